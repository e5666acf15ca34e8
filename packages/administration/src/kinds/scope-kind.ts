import type { ScopeOptions } from '@grantry/core'
import { scopeType } from '../scopes/scope-type.ts'
import { type Kind, listText } from './kind.ts'

export const scopeKind: Kind<ScopeOptions> = {
  type: scopeType,
  list: 'scopes',
  title: 'Scope',
  describe: ({ scopeSchema, scopeTexts }) => ({ schema: scopeSchema, texts: scopeTexts }),
  readOnly: { secret: 'use rotate-secret', secrets: 'use rotate-secret' },
  heading: 'NAME',
  columns: [
    ['AUDIENCE', ({ value }) => [value.audience ?? '-'].flat().join(', ')],
    ['CLAIMS', ({ value }) => listText(value.claims)],
  ],
  managerOf: ({ scopes }) => scopes,
  async add({ scopes }, value, tags, options) {
    const { scope, secret } = await scopes.add(value, tags, options)
    return { entry: scope, secret }
  },
  rotation: {
    summary: 'Add a secret for introspection, which is returned once. Earlier ones end after `overlap` seconds',
    async rotate({ scopes }, name, overlap, options) {
      const { scope, ...secrets } = await scopes.rotateSecret(name, overlap, options)
      return { entry: scope, ...secrets }
    },
  },
  forceRemoval: ({ scopes }, name, options) => scopes.remove(name, { ...options, force: true }),
  plan: {
    kept: () => [scopeType.switch, 'secrets', 'grantedSince'],
    initial: [],
    hashes: ['secrets'],
    sets: ['secrets', 'claims', 'audience'],
  },
}
