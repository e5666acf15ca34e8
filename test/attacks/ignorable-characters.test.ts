/**
 * Attack: a name that differs by invisible characters. A user service or a directory that ignores them (RFC 8264, RFC
 * 4013, collations of databases) finds the same user for each spelling; a limit that does not ignore them grants
 * separate guesses to each spelling.
 */
import type { UserService } from '@grantry/core'
import { describe, expect, test } from 'vitest'
import { foldedName } from '../../packages/core/src/folded-text.ts'
import { clients, type Fixture, fixture, testUsers, web } from '../support/fixture.ts'

const guess = (f: Fixture, username: string, password: string) =>
  f.post('token', { grant_type: 'password', username, password, scope: 'api1' }, web)

const spellings: readonly [string, string][] = [
  ['a soft hyphen', 'al\u00ADice'],
  ['a zero-width space', 'alice\u200B'],
  ['a zero-width joiner', 'a\u200Dlice'],
  ['a byte order mark', '\uFEFFalice'],
  ['bidi controls', '\u202Ealice\u202C'],
  ['bidi isolates', '\u2066alice\u2069'],
  ['a trailing NUL', 'alice\u0000'],
  ['a control character', 'ali\u0007ce'],
  ['a combining acute accent', 'alice\u0301'],
  ['many combining marks', `a${'\u0336\u0489\u20DD'.repeat(20)}lice`],
  ['a precomposed accent', 'alic\u00E9'],
  ['a variation selector', 'alice\uFE0F'],
  ['a tag character', 'alice\u{E0061}'],
  ['a Hangul filler', 'alice\u3164'],
  ['a combining grapheme joiner', 'al\u034Fice'],
  ['spaces inside', 'al ice'],
  ['full-width letters', '\uFF21\uFF2C\uFF29\uFF23\uFF25'],
  ['a dotless i', 'al\u0131ce'],
]

/** A user service that ignores all of them. */
function blind(): UserService {
  const { service } = testUsers()
  return {
    ...service,
    authenticate: ({ password }, client) => service.authenticate?.({ username: 'alice', password }, client),
  }
}

describe('the name of a user', () => {
  test.each(spellings)('with %s has no separate guesses', async (_, spelling) => {
    const f = await fixture({ users: blind(), abuseControl: { passwords: { perUser: { failures: 3 } } } })
    for (const wrong of ['a', 'b', 'c']) expect((await guess(f, 'alice', wrong)).status).toBe(400)
    expect((await guess(f, spelling, 'alice-password')).status).toBe(429)
  })

  test('in a new spelling for each guess gets as many guesses as in one', async () => {
    const f = await fixture({ users: blind() })
    const statuses: number[] = []
    for (let index = 0; index < 40; index += 1) {
      const name = [...'alice'].join('\u00AD'.repeat((index % 7) + 1)) + '\u200B'.repeat(index)
      statuses.push((await guess(f, name, `guess ${index}`)).status)
    }
    expect(statuses).toEqual([...Array(20).fill(400), ...Array(20).fill(429)])
  })

  test('that is another name is not throttled', async () => {
    const f = await fixture({ abuseControl: { passwords: { perUser: { failures: 3 } } } })
    for (let attempt = 0; attempt < 4; attempt += 1) await guess(f, 'alice2', 'wrong')
    expect((await guess(f, 'alice', 'alice-password')).status).toBe(200)
  })
})

describe('the id of a client, if the host ignores case', () => {
  test('has no separate guesses in another spelling', async () => {
    const store = { find: (id: string) => clients.find(({ clientId }) => clientId === foldedName(id).toLowerCase()) }
    const f = await fixture({ clients: store, abuseControl: true })
    const send = (id: string, secret: string, from = '192.0.2.1') =>
      f.post('token', { grant_type: 'client_credentials', scope: 'api1' }, [id, secret], from)
    // Elsewhere: where a client has authenticated, its right secret gets in.
    expect((await send('WEB', web[1], '198.51.100.7')).status).toBe(200)
    const ids = ['web', 'WEB', 'Web', 'wEb', 'w\u00ADeb']
    for (let count = 0; count < 10; count += 1)
      expect((await send(ids[count % ids.length] ?? '', 'wrong')).status).toBe(401)
    for (const id of ids) expect((await send(id, web[1])).status).toBe(429)
  })
})

describe('the normalized form of a name for the counter', () => {
  test('is the same for every normalization form, and stable, for every character of Unicode', () => {
    const unstable: string[] = []
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code)
      if (/[\p{Cn}\p{Co}\p{Cs}\p{Unified_Ideograph}]/u.test(character)) continue
      const name = `a${character}b`
      const folded = foldedName(name)
      const forms = [folded, name.normalize('NFC'), name.normalize('NFD'), name.normalize('NFKC'), name.toLowerCase()]
      // A mark that is ignored becomes a letter in upper case.
      if (!name.normalize('NFD').includes('\u0345')) forms.push(name.toUpperCase())
      if (forms.some((form) => foldedName(form) !== folded)) unstable.push(code.toString(16))
    }
    expect(unstable).toEqual([])
  })

  test.each([
    ['straße', 'STRASSE'],
    ['STRA\u1E9EE', 'strasse'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφος'],
    ['\u0130stanbul', 'istanbul'],
    ['ﬁnn', 'FINN'],
  ])('%s counts as %s', (name, spelling) => {
    expect(foldedName(name)).toBe(foldedName(spelling))
  })
})
