// A virtual table of SQLite, written as two small classes: SQLite's own interface is fifteen
// functions that take each other's pointers.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace trainscope {

// One pass over the rows of a table.
class VirtualCursor {
 public:
  VirtualCursor() = default;
  VirtualCursor(const VirtualCursor&) = delete;
  VirtualCursor& operator=(const VirtualCursor&) = delete;
  virtual ~VirtualCursor() = default;

  // Goes to the first row. `plan` is what VirtualTable::plan() returned, with a value per
  // constraint.
  virtual Status begin(const char* plan, std::span<sqlite3_value*> values) = 0;
  virtual Status next() = 0;
  virtual bool is_over() const = 0;
  virtual void give_column(sqlite3_context* context, int which) = 0;
};

class VirtualTable {
 public:
  VirtualTable() = default;
  VirtualTable(const VirtualTable&) = delete;
  VirtualTable& operator=(const VirtualTable&) = delete;
  virtual ~VirtualTable() = default;

  virtual std::string columns() const = 0;
  // Chooses constraints that a cursor uses, sets the estimates, and returns the plan.
  virtual std::string plan(sqlite3_index_info& info) const = 0;
  virtual std::unique_ptr<VirtualCursor> open() = 0;
};

// Creates the table `name`; the connection keeps `table`.
Status add_virtual_table(sqlite3* database, const std::string& name,
                         std::unique_ptr<VirtualTable> table);

}  // namespace trainscope
