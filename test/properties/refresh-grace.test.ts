// Processes that share a refresh token, in any order and with any pauses, against a model of the rule: a token is spent
// once, and until its grace ends it leads to its one successor.
import { memoryDriver } from '@grantry/storage-drivers/memory'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fixture, clients as shared } from '../support/fixture.ts'
import { issueTokens, judged, live, refresh } from '../support/revocation.ts'

const [gracePeriod, absoluteLifetime, slidingLifetime] = [1800, 12_000, 6000]
const clients = shared.map((client) => ({
  ...client,
  accessTokenLifetime: 300,
  refreshToken: { gracePeriod, absoluteLifetime, slidingLifetime },
}))

/** A token of the chain. */
interface Link {
  readonly endsAt: number
  spentAt?: number
}

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ process: fc.nat(2), from: fc.constantFrom('memory', 'file', 'first') }) },
  { weight: 2, arbitrary: fc.record({ pause: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.nat(4000)) }) },
)

test('3.106 every sequence of refreshes follows the one chain, and ends with the grace and the lifetimes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const f = await fixture({ clients, storage: memoryDriver() })
      const start = f.clock.now()
      const { refresh_token: first } = await issueTokens(f)
      const endOf = (now: number): number => Math.min(start + absoluteLifetime, now + slidingLifetime)
      // The model.
      const tokens = [first]
      const links: Link[] = [{ endsAt: endOf(start) }]
      const memory = [first, first, first]
      let file = first

      for (const step of steps) {
        if ('pause' in step) {
          f.clock.advance(step.pause)
          continue
        }
        const now = f.clock.now()
        const presented = step.from === 'file' ? file : step.from === 'first' ? first : (memory[step.process] ?? first)
        const index = tokens.indexOf(presented)
        const link = links[index] as Link
        const next = links[index + 1]
        const isValid =
          link.spentAt === undefined
            ? link.endsAt > now
            : link.spentAt + gracePeriod > now && next !== undefined && next.endsAt > now
        const { status, body } = await refresh(f, presented)
        expect(status).toBe(isValid ? 200 : 400)
        if (!isValid) continue
        if (link.spentAt === undefined) {
          link.spentAt = now
          expect(tokens).not.toContain(body.refresh_token)
          tokens.push(body.refresh_token)
          links.push({ endsAt: endOf(now) })
        }
        expect(body.refresh_token).toBe(tokens[index + 1])
        expect(body.expires_in).toBeGreaterThan(0)
        expect(await judged(f, body.access_token)).toEqual(live)
        memory[step.process] = body.refresh_token
        file = body.refresh_token
      }
      expect(f.events.map(({ type }) => type)).not.toContain('family_revoked')
    }),
    { numRuns: 40 },
  )
})
