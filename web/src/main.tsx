import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/theme.css';
import './style/layout.css';
import './style/charts.css';
import './style/pages.css';
import { App } from './App.tsx';
import { commonKeys } from './keys/common.ts';
import { startKeys } from './keys/keys.ts';
import { source } from './source/current.ts';
import { startRouting } from './state/route.ts';
import { startSettings } from './state/settings.ts';

startKeys(commonKeys);
startRouting(source.start);
startSettings();
document.getElementById('static')?.remove();
const root = document.getElementById('app');
if (root) render(<App />, root);
