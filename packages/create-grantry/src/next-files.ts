import type { Answers } from './questions.ts'
import { template } from './templates.ts'

/** Imports from `handlers.ts`, for a route file in a folder of `app/`. */
const imported = (name: string, folder: string): string =>
  `import { ${name} } from '${'../'.repeat(folder.split('/').length + 1)}handlers.ts'\n\n`

/** A route file of the provider. */
const endpoints = (path: string) => {
  const folder = `${path}/[...path]`
  return {
    [`app/${folder}/route.ts`]: `${imported('grantry', folder)}export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = grantry\n`,
  }
}

/** A route file of a page of `site.ts`. */
const page = (folder: string) => ({
  [`app/${folder}/route.ts`]: `${imported('site', folder)}export { site as DELETE, site as GET, site as POST }\n`,
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

/** The members that Next.js would add to `tsconfig.json` when it starts. */
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
