import type { Check } from './facts.ts'
import { finding } from './finding.ts'

/** N·r·p of what `grantry hash-password` makes. */
const usualCost = 2 ** 15 * 8

/** Whether a stolen configuration gives away the passwords in it. */
export const checkUsers: Check = ({ users }) =>
  users.flatMap(({ username, password: { ln, r, p } }, index) =>
    2 ** ln * r * p < usualCost
      ? [
          finding(
            'password-hash-cheap',
            `users[${index}].password`,
            `The password of ${username} was hashed with ln=${ln},r=${r},p=${p}: guessing is ${Math.round(usualCost / (2 ** ln * r * p))} times as fast as it should be`,
          ),
        ]
      : [],
  )
