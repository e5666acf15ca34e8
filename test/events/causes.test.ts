import { describe, expect, test } from 'vitest'
import { fixture, web } from '../support/fixture.ts'

const login = { grant_type: 'password', username: 'alice', password: 'alice-password', scope: 'api1' }

/** The event of a request whose user service throws this value. */
async function eventOf(thrown: unknown) {
  const f = await fixture({
    users: {
      authenticate() {
        throw thrown
      },
    },
  })
  const { status, failure } = await f.post('token', login, web)
  expect(status).toBe(500)
  const event = f.events.find(({ type }) => type === 'unhandled_failure')
  return { event, failure, cause: JSON.parse(JSON.stringify(f.events)).at(-2).cause }
}

function circle(): Error {
  const error = new Error('round and round')
  error.cause = error
  return error
}

describe('thrown values in events', () => {
  test.each<[string, unknown, object]>([
    [
      'an error',
      new TypeError('no such table'),
      { name: 'TypeError', message: 'no such table', stack: expect.any(String) },
    ],
    [
      'an error with a cause',
      new Error('outer', { cause: new RangeError('inner') }),
      { message: 'outer', cause: { name: 'RangeError', message: 'inner' } },
    ],
    [
      'a system error',
      Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
      { code: 'ECONNREFUSED' },
    ],
    [
      'several errors',
      new AggregateError([new Error('first')]),
      { name: 'AggregateError', cause: { message: 'first' } },
    ],
    ['text', 'the database is away', { name: 'string', message: 'the database is away' }],
    ['a bigint', 10n, { name: 'bigint', message: '10' }],
    ['nothing', undefined, { name: 'undefined', message: 'undefined' }],
    ['null', null, { name: 'null', message: 'null' }],
    ['a symbol', Symbol('x'), { name: 'symbol', message: 'Symbol(x)' }],
    ['an object', { password: 'hunter2' }, { name: 'Object', message: '[object Object]' }],
    ['a function', function refuse() {}, { name: 'refuse' }],
    [
      'an unreadable value',
      new Proxy(new Error('x'), {
        get() {
          throw new Error('no access')
        },
      }),
      { message: 'The thrown value cannot be read' },
    ],
  ])('10.23 %s is plain data that JSON can hold', async (_, thrown, expected) => {
    const { event, cause } = await eventOf(thrown)
    expect(cause).toMatchObject(expected)
    expect(event).toMatchObject({ cause: expected })
    expect(structuredClone(event)).toEqual(event)
  })

  test('10.23 cuts off circular causes', async () => {
    const { cause } = await eventOf(circle())
    expect(JSON.stringify(cause).match(/round and round/gu)?.length).toBeLessThan(20)
  })

  test('10.23 omits properties that a library adds to an error', async () => {
    const details = { query: 'select', parameters: ['alice-password'], big: 1n, config: { authorization: 'Bearer x' } }
    const { cause } = await eventOf(Object.assign(new Error('the query failed'), details))
    expect(Object.keys(cause).sort()).toEqual(['message', 'name', 'stack'])
  })

  test('10.23 truncates an overlong message', async () => {
    const { cause } = await eventOf(new Error('x'.repeat(1_000_000)))
    expect(cause.message.length).toBe(10_000)
    expect(cause.stack.length).toBe(10_000)
  })

  test('10.23 the test kit receives the error itself', async () => {
    const error = new Error('mine')
    expect((await eventOf(error)).failure).toBe(error)
  })
})

test('10.23 a reason of a plugin that is not a string does not reach an event', async () => {
  const find = (): never => {
    // As of another copy of the package.
    const brand = Symbol.for('grantry.OAuthError')
    throw Object.assign(new Error('No'), { [brand]: true, code: 'invalid_client', details: { reason: 10n } })
  }
  const f = await fixture({ clients: { find } })
  await f.post('token', { grant_type: 'client_credentials' }, web)
  expect(() => JSON.stringify(f.events)).not.toThrow()
  expect(f.events).toContainEqual(
    expect.objectContaining({ type: 'client_authentication_failed', reason: 'unhandled_failure' }),
  )
})
