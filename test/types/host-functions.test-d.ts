import { defineHostFunctions, type EndpointKit, type HostKey, hostKey, type Provider } from '@grantry/core'
import { type UserSessions, userSessions } from '@grantry/plugins/authorization-endpoint'
import { type DeviceVerification, deviceAuthorization, deviceVerification } from '@grantry/plugins/device-authorization'
import { describe, expectTypeOf, test } from 'vitest'

interface Shelf {
  borrow(book: string): Promise<boolean>
}

const provider = {} as Provider
const shelf = hostKey<Shelf>('shelf', 'library()')

describe('the functions of a plugin for the host', () => {
  test('have the type of their key', () => {
    expectTypeOf(provider.use(shelf)).toEqualTypeOf<Shelf>()
    expectTypeOf(provider.use(userSessions)).toEqualTypeOf<UserSessions>()
    expectTypeOf(provider.use(deviceVerification)).toEqualTypeOf<DeviceVerification>()
    // @ts-expect-error the functions have no such member
    provider.use(shelf).burn
  })

  test('are those that the key promises', () => {
    defineHostFunctions(shelf, (kit) => {
      expectTypeOf(kit).toEqualTypeOf<EndpointKit>()
      return { borrow: async (book) => book !== '' }
    })
    // @ts-expect-error borrow is absent
    defineHostFunctions(shelf, () => ({}))
    // @ts-expect-error borrow returns a promise
    defineHostFunctions(shelf, () => ({ borrow: () => true }))
  })

  test('cannot be found by a name, a plugin, or the function that creates it', () => {
    // @ts-expect-error
    provider.use('shelf')
    // @ts-expect-error
    provider.use(deviceAuthorization)
    // @ts-expect-error
    provider.use(deviceAuthorization({ verificationUri: 'https://example.com' }))
    // @ts-expect-error a key for other functions
    const otherHostKey: HostKey<UserSessions> = shelf
    expectTypeOf(otherHostKey).toEqualTypeOf<HostKey<UserSessions>>()
  })
})
