import { signInClient } from '@grantry/next/client'
import { cookies } from 'next/headers'
import { grantry } from './grantry.js'

/** The site is an application of its own provider, too. */
export const client = signInClient({
  issuer: 'https://site.example.com/id',
  clientId: 'app',
  clientSecret: 'site-secret',
  url: 'https://site.example.com/auth',
  secrets: ['a secret of the site, for a test'],
  // Its host is reached by no network.
  fetch: async (url, init) => (await grantry.provider()).fetch(new Request(url, init)),
})

export const auth = async () => client.session(await cookies())
