import { isNamedPlugin } from '../configuration/named-plugins.ts'
import { describesClients } from '../provider/startup-warnings.ts'
import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** Checks what clients need that describe or register themselves, as MCP clients do. */
export const checkDescribedClients: Check = ({ configuration, metadata, scopes }) => {
  const { plugins = [] } = configuration
  const audiences = new Set(scopes.flatMap(({ identity, audience }) => (identity ? [] : (audience ?? []))))
  // A module can contain any plugin.
  const readsResource = plugins.some((plugin) => !isNamedPlugin(plugin) || plugin.name === 'resource-indicators')
  return plugins.flatMap((plugin, index) => {
    if (!describesClients(plugin)) return []
    const path = `plugins[${index}]`
    const signIn = `No page signs users in, so the clients of ${plugin.name} cannot get a code`
    const resource = 'MCP clients name the API that a token is for, but no plugin reads it: a token is for all of them'
    return [
      ...(metadata.authorization_endpoint === undefined ? [finding('sign-in-missing', path, signIn)] : []),
      ...(readsResource || audiences.size < 2 ? [] : [finding('resource-unread', path, resource)]),
    ]
  })
}
