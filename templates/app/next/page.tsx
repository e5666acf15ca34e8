// Next.js requires a default export.
export default function Home() {
  return (
    <main>
      <h1>Demo</h1>
      <a href="/sign-in">Sign in</a>
    </main>
  )
}
