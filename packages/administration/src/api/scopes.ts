import { type ScopeOptions, scopeSchema } from '@grantry/core'
import * as v from 'valibot'
import { scopeType } from '../scopes/scope-type.ts'
import { entryOperations } from './entries.ts'
import { entryReply } from './entry-kind.ts'
import { scopeTexts } from './member-texts.ts'
import { type Operation, operation } from './operation.ts'
import { overlap } from './overlap.ts'
import { versionOf } from './version.ts'

export const scopeOperations: readonly Operation[] = [
  ...entryOperations<ScopeOptions>({
    type: scopeType,
    segment: 'scopes',
    members: { schemaOf: ({ schemas }) => schemas?.scopeSchema ?? scopeSchema, texts: scopeTexts },
    title: 'Scope',
    readOnly: { secret: 'use rotate-secret', secrets: 'use rotate-secret' },
    managerOf: ({ scopes }) => scopes,
    async forceRemoval({ scopes }, name, version) {
      await scopes.remove(name, { force: true, version })
    },
    async add({ scopes }, value, tags) {
      const { scope } = await scopes.add(value, tags)
      return { entry: scope }
    },
  }),
  operation({
    id: 'rotateScopeSecret',
    method: 'POST',
    path: '/scopes/{id}/rotate-secret',
    summary: 'Add a secret for introspection, which is returned once. Earlier ones end after `overlap` seconds',
    params: v.strictObject({ overlap }),
    repeatable: true,
    status: 200,
    async handle({ managers: { scopes }, params, ids: [id = ''], request, kit }) {
      const current = async () => (await scopes.show(id)).version
      const version = await versionOf(request, kit, { required: false, current })
      const { scope, secret } = await scopes.rotateSecret(id, params.overlap, { version })
      return entryReply(scopeType, scope, { secret })
    },
  }),
]
