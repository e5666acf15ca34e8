import type { Answers } from './questions.ts'
import { template } from './templates.ts'

const toRoot = (path: string): string => '../'.repeat(path.split('/').length + 1)

/** A route file of the provider. */
const endpoints = (path: string) => ({
  [`app/${path}/[...path]/route.ts`]: `\
import { grantry } from '${toRoot(`${path}/[...path]`)}handlers.ts'

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = grantry
`,
})

/** A route file of a page of `site.ts`. */
const page = (path: string) => ({
  [`app/${path}/route.ts`]: `\
import { site } from '${toRoot(path)}handlers.ts'

export { site as DELETE, site as GET, site as POST }
`,
})

/**
 * Returns the files of an application of Next.js around `grantry.ts` and `site.ts`. The issuer has no path, so its endpoints are in
 * two folders, and unknown addresses elsewhere keep the 404 page of the application.
 */
export const nextFiles = ({ what, pages }: Pick<Answers, 'what' | 'pages'>): Readonly<Record<string, string>> => ({
  'app/layout.tsx': template('app/next/layout.tsx'),
  'app/page.tsx': template('app/next/page.tsx'),
  ...endpoints('connect'),
  ...endpoints('.well-known'),
  ...page('sign-in'),
  ...page('callback'),
  ...(pages === 'mine' && page('login')),
  ...(what === 'mcp' && { ...page('mcp'), ...page('.well-known/oauth-protected-resource/mcp') }),
  'instrumentation.ts': template('app/next/instrumentation.ts'),
})

/** What Next.js would add to `tsconfig.json` when it starts. */
export const nextTypes = {
  compilerOptions: {
    allowJs: true,
    esModuleInterop: true,
    incremental: true,
    isolatedModules: true,
    jsx: 'react-jsx',
    plugins: [{ name: 'next' }],
    resolveJsonModule: true,
  },
  include: ['next-env.d.ts', '**/*.ts', '**/*.tsx', '.next/types/**/*.ts', '.next/dev/types/**/*.ts'],
  exclude: ['node_modules'],
}
