/**
 * Attack: guessing passwords at the password grant: one after the other, many names with one password, and from many
 * addresses; and failing on purpose, so that the user cannot log in. RFC 6749 section 4.3.2: the server MUST protect the
 * endpoint against brute force. By default: 5 attempts for a user from an address, then one after 1, 2, 4 ... 900
 * seconds; 20 for a user from all addresses without a successful login, then one after 1, 2, 4 ... 30 seconds; 100 in a
 * minute through a client, 20 of them from one source.
 */
import { describe, expect, test } from 'vitest'
import { type Fixture, fixture, other, web } from '../support/fixture.ts'
import { address, elsewhere, guess, home, many, right } from '../support/guesses.ts'

describe('one after the other', () => {
  test('after five failures the wait doubles with each attempt, up to 15 minutes', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 5; attempt += 1) {
      expect((await guess(f, 'alice', `guess ${attempt}`)).status).toBe(400)
    }
    for (const wait of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
      const { status, body, headers } = await guess(f, 'alice', 'too early')
      expect(status).toBe(429)
      expect(body).toEqual({ error: 'slow_down', error_description: expect.any(String) })
      expect(Number(headers.get('retry-after'))).toBe(wait)
      f.clock.advance(wait - 1)
      expect((await right(f)).status).toBe(429)
      f.clock.advance(1)
      expect((await guess(f, 'alice', 'in time')).status).toBe(400)
    }
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
      expect(headers.get('retry-after')).toBe('1')
    }
    expect(checkedPasswords).toEqual(Array(5).fill('judged'))
  })

  test('the right password waits its turn, and then resets the failures', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 5; attempt += 1) await guess(f, 'alice', 'wrong')
    f.clock.advance(1)
    await guess(f, 'alice', 'wrong')
    expect((await right(f)).status).toBe(429)
    f.clock.advance(2)
    expect((await right(f)).status).toBe(200)
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await guess(f, 'alice', 'wrong')).status).toBe(400)
    expect((await right(f)).status).toBe(429)
  })

  test('the failures are forgotten an hour after the last one', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 5; attempt += 1) await guess(f, 'alice', 'wrong')
    f.clock.advance(3602)
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await guess(f, 'alice', 'wrong')).status).toBe(400)
    expect((await right(f)).status).toBe(429)
  })

  test('throttles the name through another client too', async () => {
    const f = await fixture()
    for (let attempt = 0; attempt < 5; attempt += 1) await guess(f, 'alice', 'x', home, attempt % 2 === 0 ? web : other)
    expect((await right(f)).status).toBe(429)
    expect((await right(f, home, other)).status).toBe(429)
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
    expect((await right(f, home, other)).status).toBe(200)
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
  test('a botnet gets twenty guesses, and then waits up to thirty seconds for each', async () => {
    const f = await fixture()
    let judged = 0
    for (let bot = 0; bot < 60; bot += 1) if ((await guess(f, 'alice', 'x', address(bot))).status === 400) judged += 1
    expect(judged).toBe(20)
    for (const wait of [1, 2, 4, 8, 16, 30, 30, 30]) {
      const { status, headers } = await guess(f, 'alice', 'x', address(900))
      expect([status, headers.get('retry-after')]).toEqual([429, String(wait)])
      f.clock.advance(wait)
      expect((await guess(f, 'alice', 'x', address(901 + wait))).status).toBe(400)
    }
  })

  test('strangers cannot block a user where the user has logged in before, and elsewhere for half a minute at most', async () => {
    const f = await fixture()
    expect((await right(f)).status).toBe(200)
    for (let round = 0; round < 50; round += 1) {
      for (let bot = 0; bot < 30; bot += 1) await guess(f, 'alice', 'x', address(round * 30 + bot))
      expect((await right(f)).status).toBe(200)
      f.clock.advance(30)
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
    await f.post('token', credentials, ['web', `guess ${attempt}`], attacker)
    await guess(f, 'alice', 'wrong', attacker)
  }
  expect((await f.post('token', credentials, web, attacker)).status).toBe(429)
  expect((await f.post('token', credentials, web, user)).status).toBe(200)
  expect((await right(f, user)).status).toBe(200)
})

/**
 * If a user service uses another directory for each `tenant:` or `idp:`, a tenant of the attacker may contain a user
 * with the same name.
 */
describe('a user with the same name in a tenant of the attacker', () => {
  const tenants = {
    users: {
      authenticate: ({ tenant, password }: { readonly tenant?: string | undefined; readonly password: string }) =>
        password === `password of ${tenant ?? 'none'}` ? { sub: `alice of ${tenant ?? 'none'}` } : undefined,
    },
  }
  const logIn = (f: Fixture, tenant: string | undefined, password: string, from = home, username = 'alice') => {
    const acr = tenant === undefined ? {} : { acr_values: `tenant:${tenant}` }
    return f.post('token', { grant_type: 'password', username, password, scope: 'openid', ...acr }, web, from)
  }

  test.each([['evil'], [undefined]])('whose logins (%j) do not reset the guesses at the other', async (own) => {
    const f = await fixture(tenants)
    const statuses: number[] = []
    for (let guessed = 0; guessed < 8; guessed += 1) {
      statuses.push((await logIn(f, 'victim', `guess ${guessed}`)).status)
      await logIn(f, own, `password of ${own ?? 'none'}`)
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
  })

  test('whose name looks like the counter itself does not reset them either', async () => {
    const f = await fixture(tenants)
    const statuses: number[] = []
    for (let guessed = 0; guessed < 22; guessed += 1) {
      statuses.push((await logIn(f, 'victim', 'a guess', address(3 * guessed))).status)
      await logIn(f, undefined, 'password of none', address(3 * guessed + 1))
      await logIn(f, undefined, 'password of none', address(3 * guessed + 2), '["in a directory","alice"]')
    }
    expect(statuses).toEqual([...Array(20).fill(400), 429, 429])
  })

  test('does not make an address one of the other user', async () => {
    const f = await fixture(tenants)
    expect((await logIn(f, 'evil', 'password of evil', elsewhere)).status).toBe(200)
    await many(20, (index) => logIn(f, 'victim', 'wrong', address(index)))
    expect((await logIn(f, 'victim', 'password of victim', elsewhere)).status).toBe(429)
  })

  test('a user has no more guesses in many tenants than in one', async () => {
    const f = await fixture(tenants)
    const statuses: number[] = []
    for (let guessed = 0; guessed < 8; guessed += 1)
      statuses.push((await logIn(f, guessed % 2 === 0 ? `tenant ${guessed}` : undefined, 'guess')).status)
    expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429, 429])
  })

  test('a user who logs in in a tenant waits for earlier mistakes only as long as for the last of them', async () => {
    const f = await fixture(tenants)
    for (let mistake = 0; mistake < 6; mistake += 1) {
      await logIn(f, 'victim', 'a mistake')
      f.clock.advance(mistake < 4 ? 0 : 2)
    }
    for (let login = 0; login < 3; login += 1) {
      expect((await logIn(f, 'victim', 'password of victim')).status).toBe(200)
    }
  })
})
