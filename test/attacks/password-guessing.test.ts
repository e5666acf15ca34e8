/**
 * Attack: guessing passwords at the password grant: one after the other, many names with one password, and from many
 * addresses; and failing on purpose, so that the user cannot log in. RFC 6749 section 4.3.2: the server MUST protect the
 * endpoint against brute force. By default: 5 failures in 15 minutes for a user from an address; 20 in 10 minutes for a
 * user from all addresses without a successful login; 100 in a minute through a client, 20 of them from one source.
 */
import { describe, expect, test } from 'vitest'
import { fixture, otherClient, web } from '../support/fixture.ts'
import { address, elsewhere, guess, home, right } from '../support/guesses.ts'

describe('one after the other', () => {
  test('one address gets five guesses in 15 minutes, 480 in a day', async () => {
    const f = await fixture()
    let checked = 0
    for (let window = 0; window < 96; window += 1) {
      for (let attempt = 0; attempt < 5; attempt += 1) {
        expect((await guess(f, 'alice', `guess ${attempt}`)).status).toBe(400)
        checked += 1
      }
      const { status, body, headers } = await guess(f, 'alice', 'too early')
      expect(status).toBe(429)
      expect(body).toEqual({ error: 'slow_down', error_description: expect.any(String) })
      const wait = Number(headers.get('retry-after'))
      expect(wait).toBeLessThanOrEqual(900)
      f.clock.advance(wait - 1)
      expect((await right(f)).status).toBe(429)
      f.clock.advance(1)
    }
    expect(checked).toBe(480)
  })

  test('attempts that come too early neither extend the wait nor reach the user service', async () => {
    const checkedPasswords: string[] = []
    const f = await fixture({
      users: {
        authenticate({ password }) {
          checkedPasswords.push(password)
          return undefined
        },
      },
    })
    for (let attempt = 0; attempt < 5; attempt += 1) await guess(f, 'alice', 'judged')
    for (let attempt = 0; attempt < 50; attempt += 1) {
      const { headers } = await guess(f, 'alice', 'too early')
      expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(900)
    }
    expect(checkedPasswords).toEqual(Array(5).fill('judged'))
  })

  test('the right password waits its turn, and then resets the failures', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 5; attempt += 1) await guess(f, 'alice', 'wrong')
    expect((await right(f)).status).toBe(429)
    f.clock.advance(900)
    expect((await right(f)).status).toBe(200)
    for (let attempt = 0; attempt < 4; attempt += 1) expect((await guess(f, 'alice', 'wrong')).status).toBe(400)
    expect((await right(f)).status).toBe(200)
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await guess(f, 'alice', 'wrong')).status).toBe(400)
    expect((await right(f)).status).toBe(429)
  })

  test('the failures are forgotten when the window ends', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 5; attempt += 1) await guess(f, 'alice', 'wrong')
    f.clock.advance(900)
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await guess(f, 'alice', 'wrong')).status).toBe(400)
    expect((await right(f)).status).toBe(429)
  })

  test('throttles the name through another client too', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 5; attempt += 1)
      await guess(f, 'alice', 'x', home, attempt % 2 === 0 ? web : otherClient)
    expect((await right(f)).status).toBe(429)
    expect((await right(f, home, otherClient)).status).toBe(429)
  })

  test('does not throttle another name', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 10; attempt += 1) await guess(f, 'bob', 'wrong')
    expect((await right(f)).status).toBe(200)
  })

  test('one password tried on many names from five addresses throttles the client for a minute, and that client only', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 100; attempt += 1) {
      await guess(f, `user ${attempt}`, 'Summer2026', address(attempt % 5))
    }
    const { status, headers } = await right(f)
    expect(status).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
    expect((await right(f, home, otherClient)).status).toBe(200)
    f.clock.advance(Number(headers.get('retry-after')))
    expect((await guess(f, 'bob', 'bob-password')).status).toBe(200)
  })

  test('a failed client authentication does not count', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 30; attempt += 1) await guess(f, 'alice', 'wrong', home, ['web', 'wrong'])
    expect((await right(f)).status).toBe(200)
  })
})

describe('from many addresses', () => {
  test('a botnet gets twenty guesses in ten minutes, 2,880 in a day', async () => {
    const f = await fixture()
    let checked = 0
    for (let window = 0; window < 144; window += 1) {
      let wait = 0
      for (let bot = 0; bot < 22; bot += 1) {
        const { status, headers } = await guess(f, 'alice', 'x', address(22 * window + bot))
        if (status === 400) checked += 1
        wait = Number(headers.get('retry-after'))
      }
      expect(wait).toBeLessThanOrEqual(600)
      f.clock.advance(wait)
    }
    expect(checked).toBe(2880)
  })

  test('one address that is refused uses up none of the guesses from other addresses', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 50; attempt += 1) await guess(f, 'alice', 'x')
    for (let bot = 0; bot < 15; bot += 1) expect((await guess(f, 'alice', 'x', address(bot))).status).toBe(400)
    expect((await guess(f, 'alice', 'x', address(15))).status).toBe(429)
  })

  test('a right password from a new address does not count: a shared account can log in everywhere', async () => {
    const f = await fixture()
    for (let place = 0; place < 60; place += 1) expect((await right(f, address(place))).status).toBe(200)
    for (let bot = 0; bot < 20; bot += 1) expect((await guess(f, 'alice', 'x', address(900 + bot))).status).toBe(400)
    expect((await right(f, elsewhere)).status).toBe(429)
  })

  test('strangers cannot block a user where the user has logged in before, and elsewhere for ten minutes at most', async () => {
    const f = await fixture()
    expect((await right(f)).status).toBe(200)
    for (let round = 0; round < 10; round += 1) {
      for (let bot = 0; bot < 30; bot += 1) await guess(f, 'alice', 'x', address(round * 30 + bot))
      expect((await right(f)).status).toBe(200)
      f.clock.advance(600)
    }
    expect((await right(f, elsewhere)).status).toBe(200)
  })

  test('an address counts as the user’s for 30 days after a login', async () => {
    const f = await fixture()
    const attack = async () => {
      for (let bot = 0; bot < 25; bot += 1) await guess(f, 'alice', 'x', address(bot))
    }
    await right(f)
    f.clock.advance(30 * 86_400 - 1)
    await attack()
    expect((await right(f)).status).toBe(200)
    f.clock.advance(4000)
    await attack()
    expect((await right(f)).status).toBe(429)
  })

  test('a wrong password makes no address the user’s', async () => {
    const f = await fixture()
    await guess(f, 'alice', 'wrong')
    for (let bot = 0; bot < 25; bot += 1) await guess(f, 'alice', 'x', address(bot))
    expect((await right(f)).status).toBe(429)
  })

  test.each([
    [
      'an IPv6 network of one customer',
      (index: number) => `2001:db8:1:2:${index.toString(16)}::${(index * 7).toString(16)}`,
    ],
    [
      'IPv4 addresses written as IPv6',
      (index: number) => ['192.0.2.9', '::ffff:192.0.2.9', '::FFFF:c000:209'][index % 3] ?? '',
    ],
    [
      'an IPv4 address behind translators and tunnels',
      (index: number) => ['64:ff9b::192.0.2.9', '64:ff9b:1::c000:209', '::ffff:0:192.0.2.9'][index % 3] ?? '',
    ],
    ['a 6to4 site', (index: number) => `2002:c000:209:${index.toString(16)}::1`],
  ])('%s counts as one address', async (_, of) => {
    const f = await fixture()
    for (let index = 0; index < 5; index += 1) expect((await guess(f, 'alice', 'x', of(index))).status).toBe(400)
    expect((await right(f, of(5))).status).toBe(429)
  })
})

// Attack: all callers behind a translator have the same first 64 bits. One of them fails on purpose to block the
// others.
test.each([
  ['64:ff9b::/96', '64:ff9b::198.51.100.66', '64:ff9b::198.51.100.7'],
  ['64:ff9b:1::/48', '64:ff9b:1:7::198.51.100.66', '64:ff9b:1:7::198.51.100.7'],
  ['::ffff:0:0:0/96', '::ffff:0:198.51.100.66', '::ffff:0:198.51.100.7'],
  ['a Teredo server', '2001:0:c000:201:0:1:39cc:9bbd', '2001:0:c000:201:0:1:39cc:9bf8'],
])('one caller behind %s blocks no other', async (_, attacker, user) => {
  const f = await fixture({ abuseControl: true })
  const credentials = { grant_type: 'client_credentials', scope: 'api1' }
  for (let attempt = 0; attempt < 60; attempt += 1) {
    // Not the client of the passwords: where it has authenticated, its right secret gets in.
    await f.post('token', credentials, [otherClient[0], `guess ${attempt}`], attacker)
    await guess(f, 'alice', 'wrong', attacker)
  }
  expect((await f.post('token', credentials, otherClient, attacker)).status).toBe(429)
  expect((await f.post('token', credentials, otherClient, user)).status).toBe(200)
  expect((await right(f, user)).status).toBe(200)
})
