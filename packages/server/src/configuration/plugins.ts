import type { Grant, GrantCheck, Plugin } from '@grantry/core'

/** Flattens a plugin, which can be a nested list of plugins or a falsy value, to its grants and checks. */
export const flattenPlugins = (plugin: Plugin): readonly (Grant | GrantCheck)[] => {
  if (!plugin) return []
  return Array.isArray(plugin) ? plugin.flatMap(flattenPlugins) : [plugin as Grant | GrantCheck]
}

/** Returns the names of plugins as shown to the operator: grant types, and the demands that checks settle. */
export const pluginNames = (plugins: Plugin): readonly string[] =>
  flattenPlugins(plugins).map((plugin) => (plugin.kind === 'grant' ? plugin.grantType : plugin.settles))
