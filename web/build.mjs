// Builds app.js and app.css, and index.html and report.html next to them. The report is a template with script and
// style inside, and their hashes in its CSP.   node build.mjs FOLDER
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2] ?? 'dist');
const root = import.meta.dirname;
mkdirSync(folder, { recursive: true });

// One script and one style sheet with fixed names: the program embeds them and serves them with an ETag.
await build({
  absWorkingDir: root,
  entryPoints: { app: 'src/main.tsx' },
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'iife',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
});

const source = (name) => readFileSync(join(root, name), 'utf8');
const built = (name) => readFileSync(join(folder, name), 'utf8');
const hash = (text) => createHash('sha256').update(text, 'utf8').digest('base64');

const script = built('app.js').replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const style = built('app.css');
if (style.includes('</style')) throw new Error('the style sheet contains the end of a style element');

// A function as replacement: the text may contain $&, which means something in a string.
const parts = { '@script-hash@': hash(script), '@style-hash@': hash(style), '@style@': style, '@script@': script };
const report = source('report.html').replace(/@(script-hash|style-hash|style|script)@/g, (name) => parts[name]);
for (const placeholder of ['title', 'static', 'data']) {
  const count = report.split(`<!--trainscope-${placeholder}-->`).length - 1;
  if (count !== 1) throw new Error(`placeholder ${placeholder} occurs ${count} times`);
}
writeFileSync(join(folder, 'report.html'), report);
writeFileSync(join(folder, 'index.html'), source('index.html'));
