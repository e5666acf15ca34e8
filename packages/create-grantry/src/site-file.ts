import type { Answers } from './questions.ts'

interface Page {
  readonly imports: string
  readonly paths: string
  /** A line before the function that responds, and one in it. */
  readonly creation: string
  readonly response: string
}

const login: Page = {
  imports: "import { createLogin } from './login.ts'\n",
  paths: "'/login', ",
  creation: '  const login = createLogin(provider)\n',
  response: "    if (pathname === '/login') return login(request, connection)\n",
}

const mcp: Page = {
  imports: "import { mcp, mcpPaths } from './mcp.ts'\n",
  paths: '...mcpPaths, ',
  creation: '',
  response: '    if (mcpPaths.includes(pathname)) return mcp(request)\n',
}

const imports = [
  "import type { ConnectionInfo, Provider } from '@grantry/core'\n",
  "import { clientPaths, createClient } from './client.ts'\n",
  "import { type Environment, required } from './grantry.ts'\n",
].join('')

/** Returns `site.ts`, which has the pages beside the endpoints of the provider. */
export function siteFile({ what, pages }: Answers): string {
  const more = [...(pages === 'mine' ? [login] : []), ...(what === 'mcp' ? [mcp] : [])]
  const all = (member: keyof Page): string => more.map((page) => page[member]).join('')
  return `\
${imports}${all('imports')}
/** The paths of the pages beside the endpoints of the provider. Add your own here and below. */
export const sitePaths: readonly string[] = [${all('paths')}...clientPaths]

export function createSite(provider: Provider, env: Environment) {
  const client = createClient(provider, required(env, 'CLIENT_SECRET'))
${all('creation')}\
  return async (request: Request, ${pages === 'mine' ? 'connection' : '_connection'}?: ConnectionInfo): Promise<Response> => {
${more.length === 0 ? '' : '    const { pathname } = new URL(request.url)\n'}${all('response')}\
    return client(request)
  }
}
`
}
