import { type Client, defineClientAuthentication } from '@grantry/core'
import { describe, expectTypeOf, test } from 'vitest'

const accepts = () => true

describe('an authentication method', () => {
  test('has what it presents typed', () => {
    defineClientAuthentication({
      method: 'stamp',
      consumes: ['stamp'],
      present: ({ stamp }) => (stamp === undefined ? undefined : { clientId: stamp, stamp }),
      accepts,
      verify({ stamp }, client) {
        expectTypeOf(stamp).toEqualTypeOf<string>()
        expectTypeOf(client).toEqualTypeOf<Client | undefined>()
        return { reason: 'never' }
      },
    })
  })

  test('names a client', () => {
    defineClientAuthentication({
      method: 'stamp',
      consumes: [],
      // @ts-expect-error a client is authenticated by its clientId
      present: () => ({ stamp: 'x' }),
      accepts,
      verify: () => ({ reason: 'never' }),
    })
  })

  test('cannot refuse with false: a refusal has a reason', () => {
    // @ts-expect-error
    defineClientAuthentication({ method: 'a', consumes: [], present: () => undefined, accepts, verify: () => false })
  })

  test('presents a secret if it verifies nothing', () => {
    defineClientAuthentication({ method: 'key', consumes: [], present: () => ({ clientId: 'a', secret: 'b' }) })
    // @ts-expect-error
    defineClientAuthentication({ method: 'key', consumes: [], present: () => ({ clientId: 'a' }) })
  })

  test('does not see the secrets of the client', () => {
    defineClientAuthentication({
      method: 'stamp',
      consumes: [],
      present: () => ({ clientId: 'a' }),
      accepts,
      // @ts-expect-error
      verify: (_, client) => (client?.secrets === undefined ? true : { reason: 'never' }),
    })
  })
})
