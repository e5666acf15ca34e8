/**
 * Attack: a stranger writes the address of a user in other spellings that the storage takes for the same one, such as with a
 * dotless i, a sharp s, or tags. If each had limits of its own, the user would get hundreds of mails in an hour, and codes
 * could be guessed hundreds of times as often.
 *
 * Unicode Technical Report 36, section 3; RFC 5233 (tags).
 */
import { describe, expect, test, vi } from 'vitest'
import { addressIn } from '../../plugins/shared/mail-address.ts'
import { createBrowser, type Page } from '../authorization/browser.ts'
import { aliceAccount, memoryAccounts, problemOf, setUpAccounts, titleOf } from '../self-service/parties.ts'

const address = 'silvia.rossi@gmail.com'

/** As databases compare that ignore more than one case. */
const loose = (text: string): string => text.normalize('NFKC').toLowerCase().toUpperCase().toLowerCase()

/** Accounts of a storage that takes more for one address than this server does. */
function folding() {
  const { store } = memoryAccounts([{ ...aliceAccount, email: address }])
  return { ...store, findByEmail: (email: string) => store.findByEmail(loose(email)) }
}

/** Returns the texts with the letter or its look-alike at each place. */
function spellings(text: string, letter: string, lookalike: string): readonly string[] {
  const [first = '', ...rest] = text.split(letter)
  return rest.reduce<readonly string[]>(
    (all, part) => all.flatMap((start) => [start + letter + part, start + lookalike + part]),
    [first],
  )
}

const dotless = spellings(address, 'i', '\u0131').slice(1)
const sharp = ['silvia.ro\u00dfi@gmail.com', 'silvia.ro\u1e9ei@gmail.com']

describe('an address in another spelling', () => {
  test('that a storage takes for the address of a user is unknown', async () => {
    const f = await setUpAccounts({ store: folding(), mail: 'both', signUp: 'open' })
    for (const [host, spelling] of [...dotless.slice(-8), ...sharp].entries()) {
      expect(loose(spelling)).toBe(address)
      const { ask } = await f.start({}, createBrowser(f.provider, `198.51.100.${host}`))
      for (const link of ['forgot', 'by-mail']) expect(titleOf(await ask(link, spelling))).toBe('Check your email')
    }
    expect(await f.arrived()).toEqual([])
    const { ask } = await f.start()
    await ask('forgot', 'Silvia.Rossi@GMAIL.com')
    expect((await f.arrived()).map(({ to }) => to)).toEqual([address])
  })

  test('gets the mail of a sign-up itself, and creates no account', async () => {
    const f = await setUpAccounts({ store: folding(), signUp: 'open' })
    const [spelling = ''] = dotless
    await (await f.start()).ask('create', spelling)
    expect((await f.arrived()).map(({ to, subject }) => [to, subject])).toEqual([
      [spelling, 'You already have an account'],
    ])
  })

  test('shares the limit of mails, with tags and with the encoded name of the host', async () => {
    const f = await setUpAccounts({ signUp: 'open', limits: { perAddress: 5 } })
    const all = [
      'anna@b\u00fccher.example',
      'Anna+1@B\u00dcCHER.example',
      'anna@xn--bcher-kva.example',
      'anna+x@b\u00fccher.example',
    ]
    const pages: Page[] = []
    for (const spelling of all) pages.push(await (await f.start()).ask('create', spelling))
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 429])
  })

  test('is refused before it is normalized, if it is too long', async () => {
    const normalize = vi.spyOn(String.prototype, 'normalize')
    const marks = '\u0301\u0316'.repeat(10_000)
    try {
      expect(addressIn(`a@${marks}.example`)).toBeUndefined()
      expect(normalize).not.toHaveBeenCalled()
    } finally {
      normalize.mockRestore()
    }
  })

  test('with invisible characters is no address', async () => {
    const f = await setUpAccounts({ signUp: 'open' })
    for (const spelling of ['al\ufe0fice@example.com', 'alice@exam\u3164ple.com', 'al\u034fice@example.com']) {
      expect(problemOf(await (await f.start()).ask('create', spelling))).toContain('Enter an email address')
    }
    expect(await f.arrived()).toEqual([])
  })
})
