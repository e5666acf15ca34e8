import { defineEndpoint, definePlugin } from '@grantry/core'
import * as v from 'valibot'

export const pagePath = '/connect/page'
export const notePath = '/connect/note'

/** Two cookies: their headers must stay separate, because `Expires` contains a comma. */
export const cookies = [
  'step=1; Path=/connect; Expires=Wed, 21 Oct 2037 07:28:00 GMT; HttpOnly; Secure; SameSite=Lax',
  '__Host-browser="x"; Path=/; Secure',
] as const

/** A plugin with a page whose form redirects, and an endpoint with a JSON body. */
export const pages = definePlugin('pages', [
  defineEndpoint({
    name: 'page',
    path: pagePath,
    methods: ['GET', 'POST'],
    caller: 'anyone',
    params: v.object({ choice: v.optional(v.string()) }),
    handle({ params: { choice } }) {
      if (choice === undefined) return { html: '<p>Zoë</p>', cookies }
      return { location: `https://web.example.com/callback?choice=${encodeURIComponent(choice)}`, cookies }
    },
  }),
  defineEndpoint({
    name: 'note',
    path: notePath,
    methods: ['PUT', 'DELETE'],
    body: 'json',
    caller: 'client',
    params: v.object({ texts: v.optional(v.array(v.string())) }),
    handle: ({ caller, params, request }) => ({
      json: { client: caller.clientId, method: request.method, url: request.url, texts: params.texts ?? [] },
    }),
  }),
])
