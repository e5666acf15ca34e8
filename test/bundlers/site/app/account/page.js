import { auth } from '../../auth.js'

export default async function Account() {
  const session = await auth()
  return <p>{session === undefined ? 'Signed out' : `This is user ${session.sub}.`}</p>
}
