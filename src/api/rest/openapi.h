// The OpenAPI 3.1 document of the REST face, made from the catalogue.
#pragma once

#include <string>

#include "app/catalogue.h"

namespace instantstart::api {

base::JsonObject openapi_document(const app::Catalogue& catalogue, const std::string& version);

}  // namespace instantstart::api
