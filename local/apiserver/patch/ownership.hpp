// Steps that track_update and server_side_apply share.
//
// Pure, any thread. Failure: as apply.hpp says.
#pragma once

#include "local/apiserver/patch/apply.hpp"
#include "local/apiserver/patch/field_walk.hpp"
#include "local/apiserver/patch/managed_fields.hpp"

namespace amdahl::local {

// metadata.managedFields of an object; JSON null when there are none.
const Json& managed_fields_of(const Json& object);
Json without_managed_fields(Json object);
// An empty list: the member goes.
void set_managed_fields(Json& object, Json list);

// Fields nobody owns: names, versions and what the server writes.
const FieldSet& unowned_fields();
// metadata.managedFields themselves.
const FieldSet& managed_fields_tree();

// The difference of two objects without managedFields and reset fields.
FieldComparison owned_difference(const FieldRules& rules, const Json& before, const Json& after);

FieldManager manager_of(const FieldWriter& writer, WriteOperation operation);

// Drops what was written through another group of the kind (events have two): there is no telling
// which fields of this group those are.
void drop_other_groups(ManagedFields& entries, const FieldWriter& writer);
// Takes changed and removed fields from every entry but the one of `except`.
void take_fields(ManagedFields& entries, const FieldComparison& difference,
                 const FieldManager* except);
// Gives the fields to the writer's Update entry; nothing happens when there are none.
void give_fields(ManagedFields& entries, const FieldWriter& writer, FieldSet fields);

}  // namespace amdahl::local
