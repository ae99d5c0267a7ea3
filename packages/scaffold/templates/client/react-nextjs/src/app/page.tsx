'use client'

import dynamic from 'next/dynamic'

// The page is about devices, which a server does not have.
const BotPage = dynamic(() => import('../bot-page').then((module) => module.BotPage), { ssr: false })

export default function Page() {
  return <BotPage />
}
