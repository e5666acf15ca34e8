// What users type, paste, or let a program fill in, in one form.
import { domainToASCII, domainToUnicode } from 'node:url'
import {
  domainOf,
  foldedAddress,
  foldedDomain,
  foldedPassword,
  foldedUsername,
  isSameAddress,
  spellingsOf,
  typedName,
} from '@grantry/core'
import { parsePasswordHash } from '@grantry/users/password-hash'
import { describe, expect, test } from 'vitest'
import { configuredUsers } from '../../packages/server/src/users/configured-users.ts'
import { entriesOf, hasName } from '../../packages/users/src/ldap/entries.ts'
import { addressIn } from '../../plugins/shared/mail-address.ts'
import { password, quickHash } from '../administration/stored-user-setting.ts'

const sameNames = [
  [
    'alice',
    ['ALICE', 'Alice ', '\u3000alice', 'al\u200bice', '\u202aalice\u202c', '\uff41lice', 'alice\n', '\ufeffalice'],
  ],
  ['ren\u00e9', ['rene\u0301', 'REN\u00c9', 'RENE\u0301']],
  // Keyboards for Turkish begin a name with a capital that has a dot.
  ['ismail', ['\u0130smail', 'I\u0307smail', 'ISMAIL']],
  ['strasse', ['stra\u00dfe', 'STRASSE', 'stra\u1e9ee']],
  ['\u03bf\u03b4\u03cc\u03c2', ['\u039f\u0394\u038c\u03a3']],
  ['\u30ac\u30a4\u30c9', ['\uff76\uff9e\uff72\uff84\uff9e']],
  ['\u0645\u06cc\u062e\u0648\u0627\u0647\u0645', ['\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645']],
  [
    'ann@b\u00fccher.example',
    [
      'Ann@B\u00dcCHER.example',
      'ann@xn--bcher-kva.example',
      'ANN@XN--BCHER-KVA.EXAMPLE.',
      'ann\uff20bu\u0308cher\u3002example',
    ],
  ],
  ['ann@\u4f8b\u3048.jp', ['ann@xn--r8jz45g.jp', 'ann@\u4f8b\u3048\uff0eJP']],
  ['ann@fa\u00df.example', ['ANN@fa\u00df.example', 'ann@xn--fa-hia.example']],
] as const

describe.each(sameNames)('%j', (name, others) => {
  test.each(others)('is the same name as %j', (spelling) => {
    expect(foldedUsername(spelling)).toBe(foldedUsername(name))
    expect(foldedUsername(foldedUsername(spelling))).toBe(foldedUsername(name))
  })
})

test.each([
  ['ren\u00e9', 'rene'],
  ['\u0430lice', 'alice'],
  ['ann@fa\u00df.example', 'ann@fass.example'],
  ['ann@b\u00fccher.example', 'ann@bucher.example'],
  ['ann@1.1', 'ann@1.0.0.1'],
  ['ann@0x7f.1', 'ann@127.0.0.1'],
  ['ann@%61cme.example', 'ann@acme.example'],
  ['ann@acme.example:80', 'ann@acme.example'],
  ['ann@acme.example/x', 'ann@acme.example'],
  ['ann@x\\acme.example', 'ann@x'],
  ['ann@ac\tme.example', 'ann@acme.example'],
  ['alice\0', 'alice'],
])('%j and %j are two names', (firstName, secondName) => {
  expect(foldedUsername(firstName)).not.toBe(foldedUsername(secondName))
})

describe('an address', () => {
  test.each([
    ['Silvia@Example.com', 'silvia@example.com', true],
    ['silvia@b\u00fccher.example', 'silvia@xn--bcher-kva.example', true],
    ['\uff53ilvia@example.com', 'silvia@example.com', true],
    ['\u0130smail@example.com', 'ismail@example.com', true],
    ['s\u0131lvia@example.com', 'silvia@example.com', false],
    ['stra\u00dfe@example.com', 'strasse@example.com', false],
    ['sil\u200bvia@example.com', 'silvia@example.com', false],
    ['s\u00edlvia@example.com', 'silvia@example.com', false],
  ])('%j and %j: the same is %j', (address, secondAddress, isSame) => {
    expect(isSameAddress(address, secondAddress)).toBe(isSame)
    expect(foldedAddress(foldedAddress(address))).toBe(foldedAddress(address))
  })

  test.each([
    [' Ann@Example.COM ', 'Ann@example.com'],
    ['\uff41\uff4e\uff4e\uff20example\uff0ecom', 'ann@example.com'],
    ['ann@xn--bcher-kva.example', 'ann@b\u00fccher.example'],
    ['j\u00f6rg@example.com', 'j\u00f6rg@example.com'],
    ['\u2068ann@example.com\u2069', 'ann@example.com'],
    ['ann@example.com.', 'ann@example.com'],
    ['a\u200bnn@example.com', undefined],
    ['ann', undefined],
    ['@example.com', undefined],
  ])('%j is stored as %j', (typed, stored) => {
    expect(addressIn(typed)).toBe(stored)
  })
})

test('the letters of a domain are those that other programs show', () => {
  const domains = [
    'b\u00fccher.example',
    'fa\u00df.de',
    '\u4f8b\u3048.\u30c6\u30b9\u30c8',
    '\u0645\u062b\u0627\u0644.\u0625\u062e\u062a\u0628\u0627\u0631',
    '\u0441\u0430\u0439\u0442.\u0440\u0444',
    'a\u0308-o\u0308.example',
    '\ud83d\ude00.example',
  ]
  for (const domain of domains) {
    const ascii = domainToASCII(domain)
    expect(ascii).toMatch(/xn--/u)
    expect([foldedDomain(ascii), foldedDomain(domain)]).toEqual([domainToUnicode(ascii), domainToUnicode(ascii)])
  }
  for (const malformed of ['xn--', 'xn--\u00fc', 'xn--99999999', `xn--${'a'.repeat(70)}.example`, '..', '-']) {
    expect(() => foldedDomain(malformed)).not.toThrow()
  }
})

test('a database of others is asked for a name in its spellings, the most exact first', () => {
  expect(spellingsOf('Alice')).toEqual(['Alice'])
  expect(spellingsOf(' \uff21lice ')).toEqual(['\uff21lice', 'Alice'])
  expect(spellingsOf('Ann@b\u00fccher.example')).toEqual(['Ann@b\u00fccher.example', 'Ann@xn--bcher-kva.example'])
  expect(spellingsOf('Alice', true)).toEqual(['Alice'])
  expect(spellingsOf('J\u00d6RG', true)).toEqual(['J\u00d6RG'])
  expect(spellingsOf('ann@xn--bcher-kva.example', true)).toContain('ann@b\u00fccher.example')
})

describe('a password', () => {
  test.each([
    ['caf\u00e9 au lait', 'cafe\u0301 au lait', true],
    ['two words here', 'two\u00a0words\u3000here', true],
    ['\ud55c\uad6d\uc5b4', '\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165', true],
    ['Password', 'password', false],
    ['\uff50assword', 'password', false],
    ['password ', 'password', false],
  ])('%j and %j: the same is %j', (password, secondPassword, isSame) => {
    expect(foldedPassword(password) === foldedPassword(secondPassword)).toBe(isSame)
  })
})

test('what is around a name is removed, and nothing inside it', () => {
  expect(typedName(' \u200b\u202aAl\u200bice x\u202c\u3000\n')).toBe('Al\u200bice x')
  expect(typedName('\u200b ')).toBe('')
  expect(typedName(' '.repeat(2000))).toHaveLength(2000)
})

test('3.114 users of a configuration are found in each spelling, and two are refused', async () => {
  const hash = parsePasswordHash(quickHash)
  if (hash === undefined) throw new Error('The hash is malformed')
  const user = (sub: string, username: string) => ({ sub, username, password: hash, active: true, claims: {} })
  const users = configuredUsers([user('ann', 'Ann@b\u00fccher.example')])
  expect(await users.authenticate?.({ username: 'ann@XN--BCHER-KVA.example ', password })).toEqual({ sub: 'ann' })
  expect(() => configuredUsers([user('a', 'alice'), user('b', '\uff21LICE')])).toThrow('two users have the username')
})

test('an entry that a directory finds by another name is none', () => {
  const entry = { dn: 'x', mail: ['carol@acme.example', 'c@other.example'], uid: 'carol' }
  const names = ['uid', 'mail']
  // Active Directory ignores accents.
  expect(hasName('carol@\u00e1cme.example', entry, names)).toBe(false)
  for (const typed of ['carol', 'carol@acme.example', 'C@OTHER.example.']) {
    expect(hasName(typed, entry, names)).toBe(true)
  }
  // Telephone numbers are compared without their hyphens, and the limits for guesses count these.
  for (const typed of ['ca-rol', 'carol2', 'c@acme.example', 'acme.example']) {
    expect(hasName(typed, entry, names)).toBe(false)
  }
  expect(hasName('c\u00e1 rol', entry, names)).toBe(true)
  expect(hasName('carol@acme.example', { dn: 'x' }, names)).toBeUndefined()
  expect(entriesOf('carol@\u00e1cme.example', [entry, { dn: 'x' }], names)).toEqual([{ dn: 'x' }])
  expect(domainOf('carol')).toBeUndefined()
})
