import type { Grant, GrantCheck, Plugin } from '@grantry/core'

/** Flattens a plugin, which can be a nested list of plugins or a falsy value, to its grants and checks. */
export const eachPlugin = (plugin: Plugin): readonly (Grant | GrantCheck)[] => {
  if (!plugin) return []
  return Array.isArray(plugin) ? plugin.flatMap(eachPlugin) : [plugin as Grant | GrantCheck]
}
