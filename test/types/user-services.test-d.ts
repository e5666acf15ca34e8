import type { Provider, Subject, UserService } from '@grantry/core'
import { type CombinedUsers, combinedUsers, type UserSource } from '@grantry/plugins/upstream'
import type { ldapUsers } from '@grantry/users/ldap'
import type { sqlUsers } from '@grantry/users/sql'
import { describe, expectTypeOf, test } from 'vitest'

declare const table: ReturnType<typeof sqlUsers>
declare const directory: ReturnType<typeof ldapUsers>
declare const service: UserService
declare const provider: Provider

describe('a user service of the packages', () => {
  test('has functions that need no check, because they always exist', () => {
    for (const users of [table, directory]) {
      expectTypeOf(users.authenticate).toBeFunction()
      expectTypeOf(users.isActive).toBeFunction()
      expectTypeOf(users.claims).toBeFunction()
      expectTypeOf(users.find).toBeFunction()
    }
    expectTypeOf<CombinedUsers['claims']>().toBeFunction()
  })

  test('is a place of combinedUsers(), which is a user service', () => {
    expectTypeOf(table).toExtend<UserSource>()
    expectTypeOf(combinedUsers).returns.toExtend<UserService>()
    // @ts-expect-error a service can lack isActive and find
    combinedUsers([service])
  })
})

test('a password can be checked without knowing where the user is', () => {
  expectTypeOf(provider.authenticateUser({ username: 'alice', password: 'x' })).resolves.toEqualTypeOf<
    Subject | undefined
  >()
})
