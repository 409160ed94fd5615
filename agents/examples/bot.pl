#!/usr/bin/env perl
# A bot for Artus in Perl: the same player as bot.py (docs/protocol.md).
use strict;
use warnings;
use JSON::PP;
use List::Util qw(max);

$| = 1;    # each line at once
while (my $line = <STDIN>) {
    my $message = decode_json($line);
    my $answer  = { type => "hello", protocol => 1 };
    if ($message->{type} eq "choose") {
        my ($moves, $points) = @{$message}{qw(moves points)};
        my $most = max @$points;
        my @best = grep { $points->[$_] == $most } 0 .. $#$moves;
        srand($message->{seed});
        $answer = { type => "move", move => $moves->[ $best[ rand @best ] ] };
    }
    print encode_json($answer), "\n";
}
