import { cookies } from 'next/headers'
import { redirect } from 'next/navigation'
import { grantry } from '../../grantry.js'

async function signIn(query, form) {
  'use server'
  const provider = await grantry.provider()
  const credentials = { username: form.get('username'), password: form.get('password') }
  const user = await provider.authenticateUser(credentials, {})
  if (user === undefined) redirect(`/login?${query}`)
  const cookie = { httpOnly: true, sameSite: 'lax' }
  ;(await cookies()).set('session', `${user.sub}.${Math.floor(Date.now() / 1000)}`, cookie)
  redirect(`/id/authorize?${query}`)
}

export default async function Login({ searchParams }) {
  const query = String(new URLSearchParams(await searchParams))
  return (
    <form action={signIn.bind(null, query)}>
      <input name="username" />
      <input name="password" type="password" />
      <button type="submit">Sign in</button>
    </form>
  )
}
