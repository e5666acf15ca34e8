// How many mailed codes a stranger can try who never stops, and how many are found: the odds in decision 162.
import { createHash } from 'node:crypto'
import type { EndpointKit } from '@grantry/core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { countCode } from '../../plugins/shared/code-limits.ts'
import { mailLimitsSchema } from '../../plugins/shared/mail-limits.ts'
import { createMailed, digitsOfCode, isMailedCode, triesOfMail } from '../../plugins/shared/mailed-code.ts'

const day = 86_400

/** A storage whose records end. */
function fakeKit() {
  let time = 1_800_000_000
  let ids = 0
  const stored = new Map<string, { readonly value: unknown; readonly until: number }>()
  const read = (key: string): unknown => {
    const record = stored.get(key)
    return record !== undefined && record.until > time ? record.value : undefined
  }
  const records = {
    get: async (key: string) => read(key),
    async put(key: string, value: unknown, until: number) {
      stored.set(key, { value, until })
    },
    async insert(key: string, value: unknown, until: number) {
      if (read(key) !== undefined) return false
      stored.set(key, { value, until })
      return true
    },
    async increment(key: string, until: number) {
      const value = Number(read(key) ?? 0) + 1
      stored.set(key, { value, until })
      return value
    },
  }
  const kit = {
    now: () => time,
    randomId() {
      ids += 1
      return String(ids)
    },
    records,
    refuse: (_: string, __: string, reason: string, { retryAfter }: { readonly retryAfter: number }) =>
      Object.assign(new Error(reason), { retryAfter }),
  } as unknown as EndpointKit
  return {
    kit,
    advance(seconds: number): void {
      time += seconds
    },
    now: () => time,
  }
}

/** Tries codes for a year, as soon as they are allowed. Returns their number, and the longest wait in days. */
async function year(kind: 'mailed code' | 'second factor') {
  const { kit, advance, now } = fakeKit()
  const end = now() + 365 * day
  let tried = 0
  let longest = 0
  while (now() < end) {
    try {
      await countCode(kind, 'alice', {}, '198.51.100.1', kit)
      tried += 1
    } catch (error) {
      const { retryAfter } = error as { readonly retryAfter: number }
      longest = Math.max(longest, retryAfter)
      advance(retryAfter)
    }
  }
  return { tried, longest: longest / day }
}

/** Hours of a year. */
const hours = 365 * 24

/** The usual limits of mails. */
const usual = v.parse(mailLimitsSchema, undefined)

/** How many codes of so many digits are found in a year by so many tries, each of another code. */
const foundBy = (tries: number, digits = digitsOfCode): number => tries / 10 ** digits

describe('a stranger who never stops', () => {
  test('19.4 tries 575 mailed codes of an address in a year, and no wait is longer than 7 days', async () => {
    const { tried, longest } = await year('mailed code')
    expect(tried).toBe(575)
    expect(longest).toBe(7)
    expect(Math.round(1 / foundBy(tried) / 1000)).toBe(174)
  })

  test('19.4 finds the codes of two addresses in a year with all mails, without a limit of all wrong codes', () => {
    const tries = usual.total * triesOfMail * hours
    const [six, eight, nine] = [6, digitsOfCode, 9].map((digits) => Number(foundBy(tries, digits).toFixed(2)))
    expect([six, eight, nine]).toEqual([219, 2.19, 0.22])
  })

  test('finds the codes of six accounts of a million with the first mails of the day', async () => {
    const { tried } = await year('mailed code')
    const ofAccount = Math.min(triesOfMail * 365, tried)
    expect(Number(foundBy(1_000_000 * ofAccount).toFixed(2))).toBe(5.75)
    // So many accounts are necessary to try as many codes as the mails of all allow.
    expect(Math.round((usual.total * triesOfMail * hours) / tried / 1000)).toBe(381)
  })

  test('would have used up six digits of all accounts with three networks, and count accounts by the refusals', () => {
    // Before, a twentieth of all mails, of which accounts had six tenths: with six digits, for two codes in a year.
    const wrongCodes = Math.floor((usual.total / 20) * 0.6)
    expect([wrongCodes, wrongCodes / usual.perNetwork]).toEqual([150, 3])
    expect(Math.round(foundBy((usual.total / 20) * hours, 6))).toBe(2)
    // If those of addresses without an account did not count, but were refused with the others: a stranger who enters a
    // wrong code for each of 100 addresses, and then for the own ones until the refusal, knows how many have an account.
    const codesUntilRefusal = (accounts: number): number => wrongCodes - accounts
    expect(new Set(Array.from({ length: 101 }, (_, accounts) => codesUntilRefusal(accounts))).size).toBe(101)
  })
})

test('second factors keep 50 in 90 days', async () => {
  expect((await year('second factor')).tried).toBeLessThanOrEqual(250)
})

test('19.4 a code has eight digits, of which each can be any, and one of six that was mailed before an upgrade counts', async () => {
  const sealed = new Map<string, unknown>()
  const { kit: counting } = fakeKit()
  let ids = 0
  const kit = {
    ...counting,
    randomId() {
      ids += 1
      return `random-${ids}`
    },
    sha256: (text: string) => createHash('sha256').update(text).digest('base64url'),
    equals: (left: string, right: string) => left === right,
    async seal(value: unknown) {
      sealed.set(String(sealed.size), value)
      return String(sealed.size - 1)
    },
    unseal: async (text: string) => sealed.get(text),
  } as unknown as EndpointKit
  const expiresAt = 2_000_000_000
  const codes = await Promise.all(Array.from({ length: 300 }, () => createMailed({ counts: true, expiresAt }, kit)))
  expect(codes.filter(({ code }) => !/^\d{8}$/u.test(code))).toEqual([])
  for (let place = 0; place < 8; place += 1) expect(new Set(codes.map(({ code }) => code[place])).size).toBe(10)
  const before = { id: 'ticket', code: await kit.seal({ mailedCode: '012345', ticket: 'ticket' }, expiresAt) }
  expect(await isMailedCode({ ...before, counts: true, expiresAt }, '012 345', kit)).toBe(true)
  const [first] = codes
  if (first === undefined) return
  const { code, stored } = first
  for (const typed of [`${code.slice(0, 4)}-${code.slice(4)}`, ` ${code.slice(0, 4)}\u00a0${code.slice(4)}\r\n`]) {
    expect(await isMailedCode(stored, typed, kit)).toBe(true)
  }
  expect(await isMailedCode(stored, code.slice(0, 6), kit)).toBe(false)
})
