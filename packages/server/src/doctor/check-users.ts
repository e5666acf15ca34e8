import { isUnencrypted } from '@grantry/users/options'
import { costText, relativeCost } from '@grantry/users/password-hash'
import { each, type RulePart } from '../check-rules/rule.ts'
import { namesDriver, type UserDatabaseConfiguration } from '../configuration/users-schema.ts'
import type { Facts } from './facts.ts'
import { crossesInPlainText } from './plain-text.ts'

/** Whether passwords, or their hashes, cross the network in plain text. */
const isExposed = (users: UserDatabaseConfiguration): boolean =>
  users.driver === 'ldap'
    ? isUnencrypted(users)
    : users.url !== undefined && crossesInPlainText({ url: users.url, ca: users.ca })

/** The rules for the users of the configuration, or their database. */
export const userRules: readonly RulePart<Facts>[] = [
  each(
    ({ users }) => users.map(({ username, password }, index) => ({ username, cost: password.cost, index })),
    [
      // The cost protects the passwords if the configuration is stolen.
      {
        id: 'password-hash-cheap',
        severity: 'warning',
        remedy: 'hash it again with grantry hash-password',
        source: 'RFC 7914 section 2; OWASP Password Storage Cheat Sheet',
        check: ({ username, cost, index }) =>
          relativeCost(cost) < 1 && {
            where: `users[${index}].password`,
            reason: `The password of ${username} was hashed with ${cost.algorithm} and ${costText(cost)}, so it can be guessed ${Math.round(1 / relativeCost(cost))} times as fast as with the recommended cost`,
          },
      },
    ],
  ),
  {
    id: 'users-unusable',
    severity: 'error',
    remedy: 'correct the setting or the database, then run grantry check again; the server does not start',
    source: 'docs/guides/users.md',
    check: ({ userDatabaseProblem: reason }) => reason !== undefined && { where: 'users', reason },
  },
  {
    id: 'users-unencrypted',
    severity: 'warning',
    remedy: 'use TLS: sslmode=verify-full in the url of PostgreSQL, or ldaps:// or startTls',
    source: 'RFC 4513 section 6.3; docs/guides/users.md',
    reason: 'Passwords or their hashes cross the network in plain text',
    check: ({ configuration: { users } }) => namesDriver(users) && isExposed(users) && 'users.url',
  },
]
