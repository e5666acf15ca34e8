import type { ClientOptions } from '@grantry/core'
import type { EntryType } from '../entry-type.ts'
import { withoutHashes } from '../secrets.ts'
import { clientGaps } from './client-gaps.ts'
import { takesAway } from './takes-away.ts'

export const clientType: EntryType<ClientOptions> = {
  kind: 'client',
  noun: 'client',
  idMember: 'clientId',
  switch: 'enabled',
  isEnabled: ({ enabled }) => enabled !== false,
  formerKind: 'former-client',
  revocation: (clientId) => ({ clientId }),
  takesAway,
  gaps: clientGaps,
  shown: withoutHashes,
}
