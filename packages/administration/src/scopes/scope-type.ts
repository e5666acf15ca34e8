import type { ScopeOptions } from '@grantry/core'
import type { EntryType } from '../entry-type.ts'
import { withoutHashes } from '../secrets.ts'

/** Nothing is issued to a scope: tokens with several scopes keep working for the others. */
export const scopeType: EntryType<ScopeOptions> = {
  kind: 'scope',
  noun: 'scope',
  idMember: 'name',
  switch: 'enabled',
  isEnabled: ({ enabled }) => enabled !== false,
  formerKind: 'former-scope',
  shown: withoutHashes,
}
