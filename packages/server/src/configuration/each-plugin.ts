import type { Grant, GrantCheck, Plugin } from '@grantry/core'

/** The grants and checks of a plugin, which may be a list of plugins, or nothing. */
export const eachPlugin = (plugin: Plugin): readonly (Grant | GrantCheck)[] => {
  if (!plugin) return []
  return Array.isArray(plugin) ? plugin.flatMap(eachPlugin) : [plugin as Grant | GrantCheck]
}
