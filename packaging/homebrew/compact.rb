# A formula for a tap. Whoever publishes replaces OWNER, VERSION and each SHA256_, which stands in SHA256SUMS of the release.
class Compact < Formula
  desc "Compacts stored AI conversations; nothing is lost, and it proves it"
  homepage "https://github.com/OWNER/compact"
  version "VERSION"
  license "MIT"

  on_macos do
    on_arm do
      url "#{Compact.homepage}/releases/download/vVERSION/compact-VERSION-darwin-arm64.tar.xz"
      sha256 "SHA256_darwin-arm64"
    end
    on_intel do
      url "#{Compact.homepage}/releases/download/vVERSION/compact-VERSION-darwin-x64.tar.xz"
      sha256 "SHA256_darwin-x64"
    end
  end
  on_linux do
    on_arm do
      url "#{Compact.homepage}/releases/download/vVERSION/compact-VERSION-linux-arm64.tar.xz"
      sha256 "SHA256_linux-arm64"
    end
    on_intel do
      url "#{Compact.homepage}/releases/download/vVERSION/compact-VERSION-linux-x64.tar.xz"
      sha256 "SHA256_linux-x64"
    end
  end

  def install
    bin.install "compact"
    man1.install "compact.1"
    generate_completions_from_executable(bin/"compact", "completion")
  end

  test do
    (testpath/"chat.jsonl").write "{\"role\":\"user\",\"content\":\"Hello\"}\n"
    system bin/"compact", "capture", "--archive", "archive.db", "chat.jsonl"
    assert_match version.to_s, shell_output("#{bin}/compact --version")
  end
end
