import { defineGrant, definePlugin, type Plugin } from '@grantry/core'
import * as v from 'valibot'

/** Maps badges to their owners. */
export interface Doors {
  ownerOf(badgeId: string): Promise<string | undefined>
}

/** A custom grant that exchanges the number of an office badge (`badge_id`) for a token. */
export const badgeGrant = (doors: Doors): Plugin =>
  definePlugin('badge', [
    defineGrant({
      grantType: 'urn:example:badge',
      params: v.object({ badge_id: v.pipe(v.string(), v.regex(/^\d{6}$/u)) }),
      async handle({ params: { badge_id }, scopes }, kit) {
        const sub = await doors.ownerOf(badge_id)
        if (sub === undefined) throw kit.refuse('invalid_grant', 'The badge is not valid', 'unknown_badge')
        return {
          subject: { sub, amr: ['badge'], authTime: kit.now(), idp: 'doors' },
          scopes,
          claims: { badge: `…${badge_id.slice(-2)}` },
        }
      },
    }),
  ])
