import type { Part } from './part.ts'
import type { Answers } from './questions.ts'

const ready = (options: string): Part => ({
  imports: { '@grantry/pages': ['createPages'], '@grantry/plugins/sign-in-plugins': ['signInPlugins'] },
  code: `signInPlugins({ pages: createPages({ name: 'Example' })${options} })`,
  packages: ['@grantry/pages', '@grantry/plugins'],
})

const mine: Part = {
  imports: {
    '@grantry/plugins/authorization-code': ['authorizationCode'],
    '@grantry/plugins/authorization-endpoint': ['loginPage'],
    '@grantry/plugins/proof-key': ['proofKey'],
    '@grantry/plugins/refresh-token': ['refreshToken'],
  },
  code: '[authorizationCode(), proofKey(), refreshToken(), loginPage({ trusted: true })]',
  packages: ['@grantry/plugins'],
  members: ["authorizationEndpoint: new URL('/login', issuer).href,"],
}

const mcp: Part = {
  imports: {
    '@grantry/plugins/client-metadata': ['clientMetadata'],
    '@grantry/plugins/registration': ['registration'],
    '@grantry/plugins/resource-indicators': ['resourceIndicators'],
    './issuer.ts': ['resource'],
  },
  code: '',
  packages: [],
  members: [
    "scopes: [\n      { name: 'orders:read', audience: resource, default: true },\n      { name: 'orders:cancel', audience: resource },\n    ],",
  ],
}

/** What clients of MCP servers may ask for, who describe or register themselves. */
const selfDescribed = `{
  scopes: ['orders:read', 'orders:cancel', 'offline_access'],
  // For clients that are developed on this machine. Leave it out elsewhere.
  allowPrivateAddresses: true,
}`

/** @param options further options of `signInPlugins()`, each after a comma */
export function pluginsOf({ what, pages }: Answers, options: string): Part {
  const signIn = pages === 'mine' ? mine : ready(options)
  if (what !== 'mcp') return signIn
  return {
    ...mcp,
    imports: { ...signIn.imports, ...mcp.imports },
    declarations: `const selfDescribed = ${selfDescribed}\n`,
    code: `[
      ${signIn.code},
      resourceIndicators(),
      clientMetadata(selfDescribed),
      // For clients without a document, such as mcp-client.ts.
      registration({ ...selfDescribed, open: true }),
    ]`,
    packages: signIn.packages,
  }
}
