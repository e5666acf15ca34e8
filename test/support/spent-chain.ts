import { createHash, createHmac } from 'node:crypto'
import type { ProviderOptions } from '@grantry/core'
import { createTestClock } from '@grantry/testing'
import { expect } from 'vitest'
import { type Fixture, fixture } from './fixture.ts'
import { issueTokens, refresh } from './revocation.ts'

/** A family of refresh tokens, oldest first: all but the last are spent. */
export interface SpentChain {
  readonly f: Fixture
  readonly tokens: readonly string[]
  readonly clock: ReturnType<typeof createTestClock>
}

/** Refreshes a family for an hour, the last time now. */
export async function refreshedChain(
  storage: ProviderOptions['storage'],
  options: Partial<ProviderOptions> = {},
  clock = createTestClock(),
): Promise<SpentChain> {
  const f = await fixture({ storage, runtime: { now: clock.now }, ...options })
  const tokens = [(await issueTokens(f)).refresh_token]
  for (let count = 0; count < 6; count += 1) {
    clock.advance(600)
    const { body } = await refresh(f, tokens.at(-1) ?? '')
    tokens.push(body.refresh_token)
  }
  return { f, tokens, clock }
}

/** Every word of 16 characters or more in a copy of the storage. */
const wordsOf = (copy: string): readonly string[] => [...new Set(copy.match(/[\w-]{8,}/gu))]

/** Every refresh token that can be derived from a token, and any two words in a copy of the storage: nonce and secret. */
export function derivedFrom(token: string, copy: string): readonly string[] {
  const words = wordsOf(copy)
  const secrets = words.flatMap((word) => [Buffer.from(word, 'base64url'), Buffer.from(word, 'hex')])
  const keys = [token, ...secrets.map((secret) => Buffer.concat([Buffer.from(token), secret]))]
  const nonces = words.filter((word) => word.length === 22)
  return keys.flatMap((key) =>
    nonces.map((nonce) =>
      createHmac('sha512', key).update(`grantry retry 1\n${nonce}`).digest().subarray(32).toString('base64url'),
    ),
  )
}

const isStored = (token: string, copy: string): boolean =>
  copy.includes(createHash('sha256').update(token).digest('hex'))

/** The refresh tokens of the chain to which a copy of the storage and one of its tokens leads. */
export function foundIn({ tokens }: SpentChain, copy: string): readonly string[] {
  // The records of all refresh tokens are there, so that each could be recognized.
  for (const token of tokens) expect(isStored(token, copy)).toBe(true)
  const known = new Set(tokens)
  return tokens.flatMap((token) => derivedFrom(token, copy)).filter((derived) => known.has(derived))
}
