import type { EntryType } from '../entry-type.ts'
import type { StoredUser } from './user.ts'

export const userType: EntryType<StoredUser> = {
  kind: 'user',
  noun: 'user',
  idMember: 'sub',
  switch: 'active',
  isEnabled: ({ active }) => active !== false,
  // A sub is never used again. A user who was in the configuration stays signed in.
  keepsTokens: true,
  revocation: (sub) => ({ subject: sub }),
  // Ends the tokens that an attacker may have got with the old password.
  endsWith: ({ password: before }, { password: after }) => before !== after,
  // A change that has failed at the revocation is repeated with the same hash.
  endingMember: 'password',
  // The trail shows only that the password has changed.
  shown: (member, value) => (member === 'password' ? value !== undefined : value),
}
