import { isUnencrypted } from '@grantry/users/options'
import { costText, relativeCost } from '@grantry/users/password-hash'
import { namesDriver, type UserDatabaseConfiguration } from '../configuration/users.ts'
import type { Check } from './facts.ts'
import { finding } from './finding.ts'
import { crossesInPlainText } from './plain-text.ts'

/** Checks the cost of the password hashes, which protects the passwords if the configuration is stolen. */
const checkHashes: Check = ({ users }) =>
  users.flatMap(({ username, password: { cost } }, index) =>
    relativeCost(cost) < 1
      ? [
          finding(
            'password-hash-cheap',
            `users[${index}].password`,
            `The password of ${username} was hashed with ${cost.algorithm} and ${costText(cost)}, so it can be guessed ${Math.round(1 / relativeCost(cost))} times as fast as with the recommended cost`,
          ),
        ]
      : [],
  )

/** Whether passwords, or their hashes, cross the network in plain text. */
const isExposed = (users: UserDatabaseConfiguration): boolean =>
  users.driver === 'ldap'
    ? isUnencrypted(users)
    : users.url !== undefined && crossesInPlainText({ url: users.url, ca: users.ca })

/** Checks the users of the configuration, or their database. */
export const checkUsers: Check = (facts) => {
  const { users } = facts.configuration
  const problem = facts.userDatabaseProblem
  return [
    ...checkHashes(facts),
    ...(problem === undefined ? [] : [finding('users-unusable', 'users', problem)]),
    ...(namesDriver(users) && isExposed(users)
      ? [finding('users-unencrypted', 'users.url', 'Passwords or their hashes cross the network in plain text')]
      : []),
  ]
}
