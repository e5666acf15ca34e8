import { cookies } from 'next/headers'
import { client } from '../../auth.js'

export async function GET() {
  const token = await client.accessToken(await cookies())
  return new Response(null, { status: token === undefined ? 401 : 200 })
}
