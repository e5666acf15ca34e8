import { type ClientOptions, hashSecret } from '@grantry/core'
import { clientType } from '../clients/client-type.ts'
import { needsNewSecret } from '../clients/manage-clients.ts'
import { type Kind, listText } from './kind.ts'

export const clientKind: Kind<ClientOptions> = {
  type: clientType,
  list: 'clients',
  title: 'Client',
  describe: ({ clientSchema, clientTexts }) => ({ schema: clientSchema, texts: clientTexts }),
  readOnly: { secret: 'use rotate-secret', secrets: 'use rotate-secret' },
  protects: 'clients',
  heading: 'ID',
  columns: [
    ['GRANT TYPES', ({ value }) => listText(value.grantTypes)],
    ['SCOPES', ({ value }) => listText(value.scopes)],
  ],
  managerOf: ({ clients }) => clients,
  async add({ clients }, value, tags) {
    const { client, secret } = await clients.add(value, tags)
    return { entry: client, secret }
  },
  rotation: {
    summary: 'Add a secret, which is returned once, and let the earlier ones end after `overlap` seconds',
    async rotate({ clients }, id, overlap, options) {
      const { client, ...secrets } = await clients.rotateSecret(id, overlap, options)
      return { entry: client, ...secrets }
    },
  },
  plan: {
    // A client that becomes public loses them.
    kept: (declared) => [clientType.switch, ...(declared.public === true ? [] : ['secrets'])],
    initial: [],
    hashes: ['secrets'],
    sets: [
      'secrets',
      'grantTypes',
      'scopes',
      'redirectUris',
      'postLogoutRedirectUris',
      'allowedCorsOrigins',
      'identityProviders',
      'contacts',
      'workload',
      'jwks',
    ],
    complete(value, newSecret) {
      if (!needsNewSecret(value)) return { value }
      const secret = newSecret()
      return { value: { ...value, secrets: [hashSecret(secret)] }, secret }
    },
  },
}
