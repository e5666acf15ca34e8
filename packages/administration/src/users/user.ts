import {
  configurationObject,
  entryProblem,
  inexactNumber,
  inexactNumberIn,
  isJsonObject,
  type Json,
  type JsonObject,
  type OptionsOf,
  parseConfiguration,
  quotableName,
} from '@grantry/core'
import * as v from 'valibot'
import { type RefusedError, refused } from '../refusal.ts'
import { usernameProblem } from './username.ts'

/** The claims of a user, in a configuration and in the storage. */
export const userClaimsSchema = v.pipe(
  v.custom<Readonly<Record<string, Json>>>(isJsonObject, 'must be an object of claims'),
  v.rawCheck(({ dataset, addIssue }) => {
    const inexact = dataset.typed ? inexactNumberIn(dataset.value) : undefined
    if (inexact !== undefined) addIssue({ message: `has ${quotableName(inexact)}, which ${inexactNumber}` })
  }),
)

const userSchema = configurationObject(
  {
    /** The id in tokens. Never changes, and never belongs to another user. */
    sub: v.string('must be a string'),
    /** The name for the sign-in. No other user has it in another case or Unicode form. */
    username: v.pipe(
      v.string('must be a string'),
      v.rawCheck(({ dataset, addIssue }) => {
        const problem = dataset.typed ? usernameProblem(dataset.value) : undefined
        if (problem !== undefined) addIssue({ message: problem })
      }),
    ),
    /** The hash of the password. Without one, the user cannot sign in with a password. */
    password: v.optional(v.pipe(v.string('must be the hash of a password'), v.maxLength(1024, 'must be a hash'))),
    /** Default: `true`. */
    active: v.optional(v.boolean('must be true or false')),
    claims: v.optional(userClaimsSchema),
  },
  { noun: 'member' },
)

/** A user in the storage. */
export type StoredUser = OptionsOf<typeof userSchema>

/** Returns why the storage cannot keep a user; `undefined` if it can. */
export function userProblem(user: object): string | undefined {
  try {
    assertUser(user as StoredUser)
  } catch (thrown) {
    return (thrown as Error).message
  }
  const { sub, ...rest } = user as StoredUser
  return entryProblem(sub, rest as unknown as JsonObject)
}

/** The start of a message names the member, such as `user alice: claims must be ...`. */
const memberIn = /^user\[\]: ([\w.]+)/u

/** Refuses a user with unknown members, or with values of another type. The message contains no password and no hash. */
export function assertUser(user: StoredUser): void {
  try {
    parseConfiguration(userSchema, user, 'user[]')
  } catch (thrown) {
    throw namedAfter(user, thrown)
  }
}

function namedAfter({ sub }: StoredUser, thrown: unknown): RefusedError {
  const { message } = thrown as Error
  return refused('invalid', message.replace('user[]', `user ${sub}`), {
    member: memberIn.exec(message)?.[1],
    cause: thrown,
  })
}
