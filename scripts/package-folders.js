/** The folders of the published packages. A package comes after those that it depends on. */
export const packageFolders = [
  'packages/core',
  'packages/storage-drivers',
  'packages/testing',
  'packages/adapters',
  'packages/cloudflare',
  'packages/administration',
  'packages/resource-server',
  'packages/users',
  'packages/mail',
  'plugins',
  'packages/pages',
  'packages/next',
  'packages/console',
  'packages/server',
  'packages/create-grantry',
]
