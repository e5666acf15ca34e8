import {
  defineClientSource,
  defineFields,
  defineGrantCheck,
  definePlugin,
  type Plugin,
  parseConfiguration,
} from '@grantry/core'
import * as v from 'valibot'
import { type ClientKeyMembers, clientKeyMembers } from '../shared/client-keys.ts'
import { clientMembers, clientMetadata as clientMetadataNames } from '../shared/client-members.ts'
import { type ClientMetadataOptions, clientMetadataSchema } from './client-metadata-options.ts'
import { createDocuments } from './documents.ts'
import { originKey, originSchema } from './fetch-together.ts'

declare module '@grantry/core' {
  interface ClientMembers extends ClientKeyMembers {}
}

export { type ClientMetadataOptions, clientMetadataSchema, type HostPolicy } from './client-metadata-options.ts'

/**
 * Clients without a registration: the id is the URL of a document with the metadata of the client, as MCP clients have
 * one. The document is fetched when a request names it, with limits for every host and every caller.
 *
 * @throws TypeError with one sentence for a mistake in the options.
 * @see draft-ietf-oauth-client-id-metadata-document
 */
export function clientMetadata(options: ClientMetadataOptions): Plugin {
  const settings = parseConfiguration(clientMetadataSchema, options, 'clientMetadata()')
  const documents = createDocuments(settings)
  const start = settings.allowPrivateAddresses ? /^https?:\/\//u : /^https:\/\//u
  return definePlugin('client-metadata', [
    defineFields({
      client: { ...clientMembers, ...clientKeyMembers(settings.allowPrivateAddresses) },
      clientMetadata: clientMetadataNames,
      metadata: { client_id_metadata_document_supported: true },
    }),
    defineGrantCheck({
      grantTypes: 'all',
      params: v.object({}),
      async check({ client: { clientId } }, kit) {
        if (start.test(clientId)) await documents.use(clientId, kit)
        return undefined
      },
    }),
    defineClientSource({
      matches: (clientId) => start.test(clientId),
      yields: true,
      find: (clientId, kit, caller) => documents.find(clientId, kit, caller),
      isOriginAllowed: async (origin, kit) => (await kit.records.get(originKey(origin), originSchema)) !== undefined,
    }),
  ])
}
