// Lists a kind into a table, page by page while the bytes come in: no document is built, so that a list of
// any length costs the loop little at a time.
#pragma once

#include <string>

#include "kube/cache/table.h"
#include "kube/client.h"

namespace instantstart::kube {

// The version of the list. Pages of a changing collection may expire (410): then it begins anew, at last with
// all in one page. Other errors are not tried again; what was taken until then stays in the table.
// `table` outlives the call.
Task<std::string> list_into(Client& client, Context context, Resource resource, ListOptions options,
                            Table& table);

// One object that was read as a document, as if it had come in a list.
void put_object(Table& table, const JsonObject& object);

}  // namespace instantstart::kube
