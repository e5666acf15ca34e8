import { createInterface } from 'node:readline'
import { hashSecret } from '@grantry/core'
import { hashPassword } from '@grantry/users/password-hash'
import { newSecret } from '../new-secret.ts'

/** The first user and the web application of a new server. */
export interface NewSignIn {
  readonly username: string
  /** Shown once. */
  readonly password: string
  /** The secret of the client `web`; shown once. */
  readonly clientSecret: string
  readonly passwordHash: string
  readonly clientHash: string
  /** The home page of the server, where the code stays in the address bar. */
  readonly redirectUri: string
}

// Names that a URL, a shell and a terminal show unchanged.
const nameForm = /^[\p{L}\p{N}][\p{L}\p{N}._@+-]{0,99}$/u

/**
 * Asks for a name. An empty line is `alice`.
 *
 * @throws TypeError when the user cancels.
 */
export function askForName(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Promise<string> {
  const lines = createInterface({ input, output, terminal: true })
  return new Promise((resolve, reject) => {
    // Ctrl-C and Ctrl-D close it too. After an answer, it changes nothing.
    lines.once('close', () => reject(new TypeError('--sign-in: cancelled; no file was written')))
    lines.question('Name of the first user (alice): ', (answer) => {
      resolve(answer.trim() === '' ? 'alice' : answer.trim())
      lines.close()
    })
  })
}

/** Without a terminal, the name is `alice`. */
const nameOfFirst = async (): Promise<string> =>
  process.stdin.isTTY === true ? askForName(process.stdin, process.stderr) : 'alice'

/**
 * Creates the first user, with a random password.
 *
 * @param requested the name; `true` asks for it
 * @throws TypeError when the name is malformed.
 */
export async function newSignIn(requested: string | true, issuer: string): Promise<NewSignIn> {
  const username = requested === true ? await nameOfFirst() : requested
  if (!nameForm.test(username)) {
    throw new TypeError('--sign-in: the name of a user must be 1 to 100 letters, digits and ._@+-')
  }
  const password = newSecret().slice(0, 20)
  const clientSecret = newSecret()
  return {
    username,
    password,
    clientSecret,
    passwordHash: await hashPassword(password),
    clientHash: hashSecret(clientSecret).sha256,
    redirectUri: `${issuer}/`,
  }
}

/** Returns how to sign the user in: the command, and the URL. */
export function signInSteps(issuer: string, { username, redirectUri }: NewSignIn, loginTest: string): string {
  const query = new URLSearchParams({
    client_id: 'web',
    response_type: 'code',
    scope: 'openid profile',
    redirect_uri: redirectUri,
  })
  return `\nTo sign in as ${username} while the server runs, and see what the client web gets (type its secret):
  ${loginTest}
Or open this URL. The browser returns with a code for the client web:
  ${issuer}/connect/authorize?${query}
`
}
