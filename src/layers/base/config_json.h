// Configs as the JSON that Keras 3 writes: {"module", "class_name", "config", "registered_name"}. Spellings
// of older versions are the business of src/keras_io.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "plimsoll/config.h"

namespace plimsoll {

using ConfigJson = nlohmann::ordered_json;  // keys in Keras's order

// For objects that are more than a list of fields (networks inside a wrapper): asked first, for each object
// on the way. read: nullptr if it does not know the class; write: a null JSON.
struct ConfigHooks {
  std::function<std::shared_ptr<Configurable>(Family family, const ConfigJson& json)> read = {};
  std::function<ConfigJson(Configurable& object)> write = {};
};

ConfigJson object_to_json(Configurable& object, const ConfigHooks& hooks = {});
// What stands under "config": for a layer with name, trainable and dtype in front.
ConfigJson config_to_json(Configurable& object, const ConfigHooks& hooks = {});

// Takes a plain name ("glorot_uniform") too; null makes nullptr. Throws Error{not_found} for a class that is
// not registered, {unsupported} for an argument the class does not have, {invalid_argument} for a value of
// the wrong kind.
std::shared_ptr<Configurable> object_from_json(Family family, const ConfigJson& json,
                                               const ConfigHooks& hooks = {});
// Reads `config` into an object that has its defaults; arguments that the config leaves out stay.
void config_from_json(Configurable& object, const ConfigJson& config, const ConfigHooks& hooks = {});

}  // namespace plimsoll
