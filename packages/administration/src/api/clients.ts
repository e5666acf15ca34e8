import { type ClientOptions, clientSchema } from '@grantry/core'
import * as v from 'valibot'
import { clientType } from '../clients/client-type.ts'
import { entryOperations } from './entries.ts'
import { entryReply } from './entry-kind.ts'
import { clientTexts } from './member-texts.ts'
import { type Operation, operation } from './operation.ts'
import { overlap } from './overlap.ts'
import { versionOf } from './version.ts'

const rotateSecret = operation({
  id: 'rotateClientSecret',
  method: 'POST',
  path: '/clients/{id}/rotate-secret',
  summary: 'Add a secret, which is returned once, and let the earlier ones end after `overlap` seconds',
  params: v.strictObject({ overlap }),
  repeatable: true,
  protects: 'clients',
  status: 200,
  async handle({ managers: { clients }, params, ids: [id = ''], request, kit }) {
    const current = async () => (await clients.show(id)).version
    const version = await versionOf(request, kit, { required: false, current })
    const { client, secret } = await clients.rotateSecret(id, params.overlap, { version })
    return entryReply(clientType, client, { secret })
  },
})

export const clientOperations: readonly Operation[] = [
  ...entryOperations<ClientOptions>({
    type: clientType,
    segment: 'clients',
    members: { schemaOf: ({ schemas }) => schemas?.clientSchema ?? clientSchema, texts: clientTexts },
    title: 'Client',
    readOnly: { secret: 'use rotate-secret', secrets: 'use rotate-secret' },
    protects: 'clients',
    managerOf: ({ clients }) => clients,
    async add({ clients }, value, tags) {
      const { client, secret } = await clients.add(value, tags)
      return { entry: client, ...(secret !== undefined && { once: { secret } }) }
    },
  }),
  rotateSecret,
]
