import type { Plugin } from '@grantry/core'
import { eachPlugin } from './each-plugin.ts'

/** Returns the names of plugins as shown to the operator: grant types, and the demands that checks settle. */
export const pluginNames = (plugins: Plugin): readonly string[] =>
  eachPlugin(plugins).map((plugin) => (plugin.kind === 'grant' ? plugin.grantType : plugin.settles))
