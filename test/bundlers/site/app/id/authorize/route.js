import { authorizeRoute } from '@grantry/next/authorize'
import { cookies } from 'next/headers'
import { grantry } from '../../../grantry.js'

/** Stands in for the session of a site. */
async function userOf() {
  const [sub, authTime] = (await cookies()).get('session')?.value.split('.') ?? []
  return sub && { sub, authTime: Number(authTime), amr: ['pwd'] }
}

export const { GET, POST } = authorizeRoute(grantry, { userOf, loginPath: '/login', trusted: true })
