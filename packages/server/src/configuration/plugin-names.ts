import type { Plugin } from '@grantry/core'
import { eachPlugin } from './each-plugin.ts'

/** What an operator knows plugins by: the type of a grant, what a check settles. */
export const pluginNames = (plugins: Plugin): readonly string[] =>
  eachPlugin(plugins).map((plugin) => (plugin.kind === 'grant' ? plugin.grantType : plugin.settles))
