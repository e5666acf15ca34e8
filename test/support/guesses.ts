import { type Fixture, web } from './fixture.ts'

/** The address of the user, and one of another caller. */
export const home = '192.0.2.1'
export const elsewhere = '198.51.100.7'

export const guess = (f: Fixture, username: string, password: string, from: string | undefined = home, as = web) =>
  f.post('token', { grant_type: 'password', username, password, scope: 'openid' }, as, from)
export const right = (f: Fixture, from: string | undefined = home, as = web) =>
  guess(f, 'alice', 'alice-password', from, as)
export const many = (count: number, act: (index: number) => Promise<{ status: number }>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)))
export const address = (index: number): string => `203.0.${index >> 8}.${index & 255}`
