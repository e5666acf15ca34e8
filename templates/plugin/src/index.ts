import { defineEndpoint, defineGrant, definePlugin, type Plugin } from '@grantry/core'
import * as v from 'valibot'

/** Returns the id of the user with this badge; `undefined` for an unknown badge. */
export type FindUser = (badgeId: string) => Promise<string | undefined> | string | undefined

/** Six digits can be guessed: of wrong ones, so many are answered in a window (seconds), for each address. */
const guesses = { name: 'badges', failures: 10, window: 600 }

const page = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Badges</title><h1>Badges</h1><p>A terminal exchanges the six digits of your badge for a token.</p></html>`

/** A grant that exchanges the six digits of an employee badge for a token, and a page that explains it. */
export const badge = (findUser: FindUser): Plugin =>
  definePlugin('badge', [
    // The policy of a page allows no scripts, styles and images, unless `sources` beside `html` does.
    defineEndpoint({
      name: 'badgePage',
      path: '/badge',
      methods: ['GET'],
      caller: 'anyone',
      params: v.object({}),
      handle: () => ({ html: page }),
    }),
    defineGrant({
      grantType: 'urn:example:badge',
      params: v.object({ badge_id: v.pipe(v.string(), v.regex(/^\d{6}$/u)) }),
      async handle({ params, scopes, request: { clientAddress = '' } }, kit) {
        const sub = await kit.limitGuesses(guesses, clientAddress, async () => findUser(params.badge_id))
        if (sub === undefined) throw kit.refuse('invalid_grant', 'The badge is not valid', 'unknown')
        return { subject: { sub, amr: ['badge'] }, scopes }
      },
    }),
  ])
