import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** The cost (N·r·p) of hashes from `grantry hash-password`. */
const defaultCost = 2 ** 15 * 8

/** Checks the cost of the password hashes, which protects the passwords if the configuration is stolen. */
export const checkUsers: Check = ({ users }) =>
  users.flatMap(({ username, password: { ln, r, p } }, index) =>
    2 ** ln * r * p < defaultCost
      ? [
          finding(
            'password-hash-cheap',
            `users[${index}].password`,
            `The password of ${username} was hashed with ln=${ln},r=${r},p=${p}, so it can be guessed ${Math.round(defaultCost / (2 ** ln * r * p))} times as fast as with the default cost`,
          ),
        ]
      : [],
  )
